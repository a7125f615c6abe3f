/*
 * The driver API for the benchmarks, found by dlopen and dlsym as cudart and every framework find
 * it: a benchmark that were linked against libcuda would leave out the doors that programs use.
 *
 * Each function is named once; its type comes from its prototype and its version from the macros of
 * cuda.h, so that driver.cuMemcpyHtoDAsync is typed and is the _v2.
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define DRIVER_FUNCTIONS(X)                                                                        \
    X(cuInit)                                                                                      \
    X(cuDeviceGet)                                                                                 \
    X(cuDevicePrimaryCtxRetain)                                                                    \
    X(cuCtxSetCurrent)                                                                             \
    X(cuCtxSynchronize)                                                                            \
    X(cuModuleLoadData)                                                                            \
    X(cuModuleGetFunction)                                                                         \
    X(cuLaunchKernel)                                                                              \
    X(cuLaunchHostFunc)                                                                            \
    X(cuMemAlloc)                                                                                  \
    X(cuMemFree)                                                                                   \
    X(cuMemAllocHost)                                                                              \
    X(cuMemFreeHost)                                                                               \
    X(cuMemHostRegister)                                                                           \
    X(cuMemHostUnregister)                                                                         \
    X(cuMemcpyHtoDAsync)                                                                           \
    X(cuMemcpyDtoHAsync)                                                                           \
    X(cuStreamCreate)                                                                              \
    X(cuStreamDestroy)                                                                             \
    X(cuStreamSynchronize)                                                                         \
    X(cuStreamWaitEvent)                                                                           \
    X(cuEventCreate)                                                                               \
    X(cuEventDestroy)                                                                              \
    X(cuEventRecord)                                                                               \
    X(cuEventQuery)                                                                                \
    X(cuEventSynchronize)

#define DRIVER_MEMBER(name) __typeof__(name) *name;
static struct driver {
    DRIVER_FUNCTIONS(DRIVER_MEMBER)
    CUcontext primary;
} driver;

static inline void must_succeed(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s: CUresult %d\n", call, (int)result);
        exit(2);
    }
}

/* For calls outside the timed part; the benchmark cannot go on without them. */
#define MUST(call) must_succeed((call), #call)

/* Of the driver, or of the runtime: what the library lacks is named with it. */
static inline void *driver_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);

    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return symbol;
}

/* Loads the driver and makes the first device's primary context current; exits 2 if it cannot. */
static inline void driver_start(void)
{
    CUdevice device;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
#define DRIVER_QUOTE(symbol) #symbol
#define DRIVER_LOOK_UP(name)                                                                       \
    driver.name = (__typeof__(name) *)driver_symbol(library, DRIVER_QUOTE(name));
    DRIVER_FUNCTIONS(DRIVER_LOOK_UP)
    MUST(driver.cuInit(0));
    MUST(driver.cuDeviceGet(&device, 0));
    MUST(driver.cuDevicePrimaryCtxRetain(&driver.primary, device));
    MUST(driver.cuCtxSetCurrent(driver.primary));
}

/* NULL: this driver does not load PTX. */
static inline CUfunction driver_empty_kernel(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                              ".visible .entry empty()\n{\n    ret;\n}\n";
    CUmodule module;
    CUfunction function = NULL;

    if (driver.cuModuleLoadData(&module, ptx) != CUDA_SUCCESS ||
        driver.cuModuleGetFunction(&function, module, "empty") != CUDA_SUCCESS)
        return NULL;
    return function;
}

static inline CUstream driver_stream(void)
{
    CUstream stream;

    MUST(driver.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

static inline unsigned char *driver_pinned(size_t size_bytes)
{
    void *block = NULL;

    MUST(driver.cuMemAllocHost(&block, size_bytes));
    return block;
}

static inline CUdeviceptr driver_device(size_t size_bytes)
{
    CUdeviceptr block;

    MUST(driver.cuMemAlloc(&block, size_bytes));
    return block;
}

#endif
