/* A green context of 8 multiprocessors of device 0. The driver says what went wrong. */
#ifndef SC_TESTS_GREEN_CONTEXT_H
#define SC_TESTS_GREEN_CONTEXT_H

#include <cuda.h>

static inline CUresult make_green_context(CUgreenCtx *green)
{
    CUdevResource all, part;
    CUdevResourceDesc description;
    unsigned groups = 1;
    CUresult result = cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM);
    if (result == CUDA_SUCCESS)
        result = cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, 8);
    if (result == CUDA_SUCCESS)
        result = cuDevResourceGenerateDesc(&description, &part, 1);
    if (result == CUDA_SUCCESS)
        result = cuGreenCtxCreate(green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM);
    return result;
}

#endif
