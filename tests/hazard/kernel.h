/* For the twins whose kernels use memory: the copying kernel, and its launches.
 *
 * What is issued is statically inline, and no helper: it is the caller's line that is reported.
 */
#ifndef SC_TESTS_HAZARD_KERNEL_H
#define SC_TESTS_HAZARD_KERNEL_H

#include "twin_driver.h"

#include "tests/copying_kernel.h"

/* copy_bytes of tests/copying_kernel.h, in the current context. */
static TWIN_HELPER CUfunction copying_kernel(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CHECK(cuModuleLoadData(&module, copying_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "copy_bytes"));
    return kernel;
}

/* By which a kernel knows pinned or registered memory. */
static TWIN_HELPER CUdeviceptr address_of(void *memory)
{
    CUdeviceptr address = 0;
    CHECK(cuMemHostGetDevicePointer(&address, memory, 0));
    return address;
}

/* 64 KB. */
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

/* A kernel on memory of its own, behind one node or none (NULL). */
static TWIN_HELPER CUgraphNode add_own_kernel(CUgraph graph, const CUgraphNode *behind)
{
    CUgraphNode node = NULL;
    CUdeviceptr to = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, 0);
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&to, &from, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = copy_node_params(copying_kernel(), parameters);
    CHECK(cuGraphAddKernelNode(&node, graph, behind, behind != NULL, &kernel));
    return node;
}

#endif
