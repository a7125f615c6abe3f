// run: strict=1 -> hazards=0
// run: mode=report -> hazards=0
/* A context is destroyed around the wrappers, with a copy in flight, which the driver waits for.
 * The program frees registered memory that the copy has read, and goes on in a context that may
 * have the handle of the former, with streams that may have theirs, and with pinned memory that is
 * not theirs. */
#include "around.h"

enum { ROUNDS = 20 };

static CUresult (*destroy)(CUcontext);

static CUcontext begin(void)
{
    CUcontext context;
    unsigned flags;
    CUDA(cuCtxCreate(&context, NULL, 0, 0));
    CUDA(cuMemAllocHost(&pinned, BYTES));
    CUDA(cuMemHostGetFlags(&flags, pinned));
    CUDA(cuStreamCreate((CUstream *)&stream, CU_STREAM_NON_BLOCKING));
    CUDA(cuMemAlloc((CUdeviceptr *)&device, BYTES));
    return context;
}

static void copy_from(void *source)
{
    CUDA(cuMemcpyHtoDAsync((CUdeviceptr)device, source, BYTES, stream));
}

static void end_busy(CUcontext context)
{
    void *registered = aligned_alloc(BYTES, BYTES);
    CUDA(cuMemFreeHost(pinned));
    CUDA(cuMemHostRegister(registered, BYTES, 0));
    copy_from(registered);
    CUDA(destroy(context));
    free(registered);
}

int main(void)
{
    CUDA(cuInit(0));
    *(void **)&destroy = around("cuCtxDestroy_v2");
    for (int i = 0; i < ROUNDS; i++)
        end_busy(begin());
    begin();
    copy_from(pinned);
    CUDA(cuStreamSynchronize(stream));
    CUDA(cuMemFreeHost(pinned));
    return 0;
}
