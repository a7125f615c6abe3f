/* A context with a kernel that fails (719), for programs that lose it. */
#ifndef SC_TESTS_SURVIVAL_FAULTING_H
#define SC_TESTS_SURVIVAL_FAULTING_H

#include "survival.h"

#include <cuda.h>

static SURVIVAL_HELPER CUfunction faulting_kernel(void)
{
    static const char source[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry fault() { trap; }\n";
    CUdevice device = 0;
    CUcontext context = NULL;
    CUmodule module = NULL;
    CUfunction fault = NULL;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&fault, module, "fault"));
    return fault;
}

static SURVIVAL_HELPER CUstream faulting_stream(void)
{
    CUstream stream = NULL;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static SURVIVAL_HELPER int faulting_launch(CUfunction fault, CUstream stream)
{
    return (int)cuLaunchKernel(fault, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
}

#endif
