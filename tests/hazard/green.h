/* A green context of the current device's primary one, and a stream in it. */
#ifndef SC_TESTS_HAZARD_GREEN_H
#define SC_TESTS_HAZARD_GREEN_H

#include "twin_driver.h"

#include "tests/green_context.h"

static TWIN_HELPER CUgreenCtx green_context(void)
{
    CUgreenCtx green = NULL;
    CHECK(make_green_context(&green));
    return green;
}

static TWIN_HELPER CUstream green_stream(CUgreenCtx green)
{
    CUstream stream = NULL;
    CHECK(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

#endif
