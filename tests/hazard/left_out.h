/* For the twins of SC305: work beside a capture, and launches that lack it.
 *
 * Nothing is healed: a racy build is right if its later launches saw what the first one saw, which
 * is what goes wrong.
 */
#ifndef SC_TESTS_HAZARD_LEFT_OUT_H
#define SC_TESTS_HAZARD_LEFT_OUT_H

#include "capture.h"

#include "tests/copying_kernel.h"

enum { NEXT = 51 }; /* the seed of what a later launch should see */

/* copy_bytes of tests/copying_kernel.h, in the current context. */
static TWIN_HELPER CUfunction copying_kernel(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CHECK(cuModuleLoadData(&module, copying_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "copy_bytes"));
    return kernel;
}

/* 64 KB. Statically inline rather than a helper: it is the caller's line that is reported. */
static inline void launch_copy(CUfunction kernel, CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&to, &from, &count};
    CHECK(cuLaunchKernel(kernel, count / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

/* The same as a node's parameters; `parameters` are to, from and count. */
static inline CUDA_KERNEL_NODE_PARAMS copy_node_params(CUfunction kernel, void **parameters)
{
    return (CUDA_KERNEL_NODE_PARAMS){
        .func = kernel,
        .gridDimX = (unsigned)SMALL / 256,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = 256,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = parameters,
    };
}

/* The source is uploaded again for a later launch: seen only where the upload is in the graph. */
static TWIN_HELPER bool second_launch_sees(cudaGraphExec_t exec, cudaStream_t stream, void *source,
                                           const void *result)
{
    replay(exec, stream);
    bool first = device_holds(result, SMALL, WANTED);
    fill(source, SMALL, NEXT);
    replay(exec, stream);
    return first && device_holds(result, SMALL, fixed ? NEXT : WANTED);
}

#endif
