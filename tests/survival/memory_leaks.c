// expect-exit: 0
// link: cuda
//
// Memory that is given back, or not: a block that is freed, a hundred that one place makes and
// forgets, three that a destructor frees, two of them of one place and a pool, one that the program
// keeps for life, and one of a pool that outlives its context. With an argument the device is reset
// instead when all is held (reset), or the process ends by _exit (_exit). tests/unit/test_memory.py
// looks for SC601.
#include <cuda.h>

#include "survival.h"

enum { KB = 1 << 10, LOST = 100 };

static CUdeviceptr late, kept, late_pooled[2];
static CUstream stream;

static __attribute__((destructor)) void free_late(void)
{
    if (late)
        cuMemFree(late); /* the driver may be gone */
    for (unsigned i = 0; i < 2; i++)
        if (late_pooled[i])
            cuMemFreeAsync(late_pooled[i], stream);
}

static SURVIVAL_HELPER void outlive_a_context(void)
{
    CUcontext context = NULL;
    CUdeviceptr left = 0;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuMemAllocAsync(&left, 3 * KB, NULL));
    CHECK(cuCtxDestroy(context));
}

static SURVIVAL_HELPER void lose_one(bool is_pooled)
{
    CUdeviceptr lost = 0;
    CHECK(is_pooled ? cuMemAllocAsync(&lost, 4 * KB, NULL) : cuMemAlloc(&lost, 4 * KB));
}

static SURVIVAL_HELPER void free_one(void)
{
    CUdeviceptr block = 0;
    CHECK(cuMemAlloc(&block, 5 * KB));
    CHECK(cuMemFree(block));
}

static SURVIVAL_HELPER void allocate_pooled(volatile unsigned count)
{
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < count; i++)
        CHECK(cuMemAllocAsync(&late_pooled[i], 2 * KB, stream));
}

int main(int argc, char **argv)
{
    bool is_reset = argc > 1 && strcmp(argv[1], "reset") == 0;
    CUcontext context = NULL;
    CHECK(cuInit(0));
    if (argc == 1)
        outlive_a_context();
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    free_one();
    for (unsigned i = 0; i < LOST; i++)
        lose_one(is_reset);
    CHECK(cuMemAlloc(&late, 6 * KB));
    allocate_pooled(is_reset ? 0 : 2);
    CHECK(cuMemAlloc(&kept, 7 * KB));
    if (is_reset)
        CHECK(cuDevicePrimaryCtxReset(0));
    if (argc > 1 && strcmp(argv[1], "_exit") == 0)
        _exit(0);
    return 0;
}
