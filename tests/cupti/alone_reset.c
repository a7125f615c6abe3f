// inject: 1
// run: strict=1 -> hazards=0
// run: strict=1 HOW=release -> hazards=0
// run: mode=report -> hazards=0
/* A device's primary context is reset, or released for the last time, with a copy in flight, which
 * the driver waits for. Memory that is pinned afterwards has the address of what was in flight. */
#include "profiler.h"

enum { TRIES = 64 };

static CUdevice number;

static void begin(void)
{
    CUcontext context;
    CUDA(cuDevicePrimaryCtxRetain(&context, number));
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUDA(cuMemAlloc((CUdeviceptr *)&device, BYTES));
}

static void end(void)
{
    if (getenv("HOW"))
        CUDA(cuDevicePrimaryCtxRelease(number));
    else
        CUDA(cuDevicePrimaryCtxReset(number));
    CUDA(cuCtxSetCurrent(NULL));
}

int main(void)
{
    CUDA(cuInit(0));
    CUDA(cuDeviceGet(&number, 0));
    begin();
    CUDA(cuMemAllocHost(&pinned, BYTES));
    CUDA(cuMemcpyHtoDAsync((CUdeviceptr)device, pinned, BYTES, stream));
    void *former = pinned;
    end();
    begin();
    for (int i = 0; i < TRIES; i++) {
        CUDA(cuMemAllocHost(&pinned, BYTES));
        if (pinned == former)
            break;
    }
    CUDA(cuMemFreeHost(pinned));
    return 0;
}
