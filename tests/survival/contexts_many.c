// expect-exit: 0
// link: cuda
// needs: sim
//
// Contexts come and go, each with a copy that is snapshotted, and little is left behind of them.
#include "survival.h"

#include <cuda.h>

#include "tests/process_memory.h"

enum { BYTES = 4096, FIRST = 50, MORE = 1000, LEFT_MAX_BYTES = 5000 };

static void copy_in_one(CUdevice device)
{
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUdeviceptr to = 0;
    void *from = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, device));
    CHECK(cuMemAlloc(&to, BYTES));
    CHECK(cuMemAllocHost(&from, BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemcpyHtoDAsync(to, from, BYTES, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuCtxDestroy(context));
}

int main(void)
{
    CUdevice device = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    for (int i = 0; i < FIRST; i++)
        copy_in_one(device);
    long before_kb = resident_kb();
    for (int i = 0; i < MORE; i++)
        copy_in_one(device);
    long left_bytes = (resident_kb() - before_kb) * 1024 / MORE;
    puts(left_bytes > LEFT_MAX_BYTES ? "much is left" : "little is left");
    return 0;
}
