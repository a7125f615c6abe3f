// run: strict=1 -> hazards=1 hazard:code=SC101 hazard:certainty=observed exit=66
// run: mode=report -> hazards=1 hazard:certainty=observed
// sim: late_limit=10s
/* The end of a green context is announced while its stream is at work, which lives on: memory that
 * a copy there still reads is freed too early then as before. */
#include "around.h"

#include "tests/green_context.h"

#include <unistd.h>

static _Atomic int held = 1;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5000 && atomic_load(&held); i++)
        usleep(1000);
}

static CUgreenCtx make(void)
{
    CUgreenCtx green;
    CUcontext context;
    CUDA(make_green_context(&green));
    CUDA(cuCtxFromGreenCtx(&context, green));
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuGreenCtxStreamCreate((CUstream *)&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return green;
}

int main(void)
{
    CUcontext primary;
    CUDA(cuInit(0));
    CUDA(cuDevicePrimaryCtxRetain(&primary, 0));
    CUDA(cuCtxSetCurrent(primary));
    void *source = aligned_alloc(BYTES, BYTES);
    CHECK(source);
    CUDA(cuMemAlloc((CUdeviceptr *)&device, BYTES));
    CUDA(cuMemHostRegister(source, BYTES, CU_MEMHOSTREGISTER_PORTABLE));
    CUgreenCtx green = make();
    CUDA(cuLaunchHostFunc(stream, hold, NULL));
    CUDA(cuMemcpyHtoDAsync(on_device(), source, BYTES, stream));
    CUDA(cuGreenCtxDestroy(green));
    CUDA(cuCtxSetCurrent(primary));
    free(source);
    atomic_store(&held, 0);
    CUDA(cuCtxSynchronize());
    return 0;
}
