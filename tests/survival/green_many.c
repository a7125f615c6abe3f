/* Green contexts come and go, and leave no memory behind that the driver has pinned for them. */
#include <stdio.h>

#include <cuda.h>

#include "tests/green_context.h"
#include "tests/process_memory.h"

enum { ROUNDS = 64, BYTES = 1024, GROWTH_MAX_KB = 32 << 10 };

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        printf("a call failed: %d\n", (int)result);
}

static void copy_in_one(CUdeviceptr device, const void *pinned)
{
    CUstream stream = NULL;
    CUgreenCtx green = NULL;
    check(make_green_context(&green));
    check(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    check(cuMemcpyHtoDAsync(device, pinned, BYTES, stream));
    check(cuStreamSynchronize(stream));
    check(cuStreamDestroy(stream));
    check(cuGreenCtxDestroy(green));
}

int main(void)
{
    CUcontext context = NULL;
    CUdeviceptr device = 0;
    void *pinned = NULL;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&context, 0));
    check(cuCtxSetCurrent(context));
    check(cuMemAlloc(&device, BYTES));
    check(cuMemHostAlloc(&pinned, BYTES, 0));
    copy_in_one(device, pinned);
    long before_kb = mapped_kb();
    for (int i = 0; i < ROUNDS; i++)
        copy_in_one(device, pinned);
    puts(mapped_kb() - before_kb > GROWTH_MAX_KB ? "memory was left behind" : "no memory was left");
    return 0;
}
