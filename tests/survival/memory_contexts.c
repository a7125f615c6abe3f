// expect-exit: 0
// sim: devices=3
// link: cuda
//
// Contexts and no memory: the primary one of the first device, which is retained again, and three
// others there, one of which is destroyed; where there is a second device its primary one, which is
// released; and where there is a third the one that nobody releases. tests/unit/test_memory.py
// looks at what the report says of them.
#include <cuda.h>

#include "survival.h"

enum { TIMES = 5 };

static SURVIVAL_HELPER void retain(CUdevice device)
{
    CUcontext context;
    for (unsigned i = 0; i < TIMES; i++)
        CHECK(cuDevicePrimaryCtxRetain(&context, device));
}

/* The last one. */
static SURVIVAL_HELPER CUcontext create(unsigned times)
{
    CUcontext context = NULL;
    for (unsigned i = 0; i < times; i++)
        CHECK(cuCtxCreate(&context, NULL, 0, 0));
    return context;
}

int main(void)
{
    int count = 0;
    CHECK(cuInit(0));
    CHECK(cuDeviceGetCount(&count));
    retain(0);
    CHECK(cuCtxDestroy(create(3)));
    if (count > 1)
        retain(1);
    for (unsigned i = 0; i < TIMES && count > 1; i++)
        CHECK(cuDevicePrimaryCtxRelease(1));
    if (count > 2)
        retain(2);
    return 0;
}
