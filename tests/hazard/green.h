/* A green context of the current device's primary one, and a stream in it. */
#ifndef SC_TESTS_HAZARD_GREEN_H
#define SC_TESTS_HAZARD_GREEN_H

#include "twin_driver.h"

enum { GREEN_PROCESSORS = 8 };

static TWIN_HELPER CUgreenCtx green_context(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx green = NULL;
    unsigned groups = 1;
    CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, GREEN_PROCESSORS));
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

static TWIN_HELPER CUstream green_stream(CUgreenCtx green)
{
    CUstream stream = NULL;
    CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

#endif
