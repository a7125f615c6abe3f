// run: timeline=1 -> timeline.state=failed says=timeline=1_cannot_be_met:_CUDA_was_in_use
// run: strict=1 -> cupti.state=failed cupti:detail=CUDA_was_in_use_before_the_library timeline=None
// sim: late_limit=60s
/* CUDA is in use before the library meets the program, and what runs will only end after a call
 * that brings the library up: CUPTI would wait for it, and for ever. */
#include "around.h"

static _Atomic int go_on;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    while (!atomic_load(&go_on))
        continue;
}

int main(void)
{
    CUcontext context;
    CUstream held;
    CUDA(((CUresult(*)(unsigned))around("cuInit"))(0));
    CUDA(((CUresult(*)(CUcontext *, CUdevice))around("cuDevicePrimaryCtxRetain"))(&context, 0));
    CUDA(((CUresult(*)(CUcontext))around("cuCtxSetCurrent"))(context));
    CUDA(((CUresult(*)(CUstream *, unsigned))around("cuStreamCreate"))(&held, 1));
    CUDA(((CUresult(*)(CUstream, CUhostFn, void *))around("cuLaunchHostFunc"))(held, hold, NULL));
    CUDA(cuInit(0));
    atomic_store(&go_on, 1);
    CUDA(cuCtxSynchronize());
    set_up();
    copy();
    return 0;
}
