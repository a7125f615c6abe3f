// expect-exit: 0
// link: cuda
//
// Memory that is asked for at a few places and kept. With an argument one of them has 10 MB more:
// tests/unit/test_memory_formats.py compares the reports.
#include <cuda.h>

#include "survival.h"

enum { MB = 1 << 20, CACHED = 8 * MB, MORE = 10 * MB, BATCH = 3 * MB };

static CUdeviceptr weights[2], batches[4];
static void *staging;

static SURVIVAL_HELPER void cache_weights(bool more)
{
    for (unsigned i = 0; i < 1 + (unsigned)more; i++)
        CHECK(cuMemAlloc(&weights[i], i == 0 ? CACHED : MORE));
}

static SURVIVAL_HELPER void make_batches(void)
{
    for (unsigned i = 0; i < 4; i++)
        CHECK(cuMemAlloc(&batches[i], BATCH));
    for (unsigned i = 0; i < 4; i += 2)
        CHECK(cuMemFree(batches[i]));
}

static SURVIVAL_HELPER void make_staging(void)
{
    CHECK(cuMemAllocHost(&staging, MB));
}

int main(int argc, char **argv)
{
    CUcontext context = NULL;
    (void)argv;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    cache_weights(argc > 1);
    make_batches();
    make_staging();
    return 0;
}
