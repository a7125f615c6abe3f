/*
 * Common ground of the simulated CUDA runtime: the driver table, the frame that every entry point
 * shares, and the few look-ups that cross files.
 *
 * The library holds no simulation of its own. It translates runtime calls into the driver calls
 * that the real runtime makes, so that an interposer at the driver boundary sees the same traffic.
 *
 * stream_api.h is compiled twice, once for each meaning of stream 0; CUDA_API_PER_THREAD_DEFAULT_-
 * STREAM renames its functions and selects the second driver table.
 */
#ifndef SIM_CUDART_RUNTIME_H
#define SIM_CUDART_RUNTIME_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "sim_cudart_hooks.h"
#include <cuda_runtime_api.h>
#pragma GCC visibility pop

#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include "driver.def"

/* cuda.h declares the version that is asked of cuGetProcAddress, so its prototype is the type. */
struct rt_driver {
#define FIELD(name) __typeof__(&name) p_##name;
    RT_DRIVER_FUNCTIONS(FIELD)
    RT_DRIVER_FUNCTIONS_12000(FIELD)
#undef FIELD
};

enum { RT_LEGACY, RT_PER_THREAD };
extern struct rt_driver rt_driver[2];

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define RT_DEFAULT_STREAM RT_PER_THREAD
#else
#define RT_DEFAULT_STREAM RT_LEGACY
#endif

/* Calls the driver; a function that the driver lacks answers as an old driver's would. */
#define CALL(name, ...)                                                                            \
    (rt_driver[RT_DEFAULT_STREAM].p_##name ? rt_driver[RT_DEFAULT_STREAM].p_##name(__VA_ARGS__)    \
                                           : CUDA_ERROR_NOT_FOUND)

/* What a function needs before it can run. */
enum rt_need { RT_NOTHING, RT_DRIVER, RT_CONTEXT };

struct rt_site {
    const char *name;
    int cbid;
} __attribute__((aligned(16)));

struct rt_call {
    const struct rt_site *site;
    void *params;
    sim_cudart_callback *callback;
};

/* Announces the call and brings up what it needs; anything but success is the call's result. */
CUresult rt_enter(struct rt_call *call, enum rt_need need);

/* Remembers an error as the thread's last one, announces the result and returns it. */
cudaError_t rt_leave(struct rt_call *call, CUresult result);

/* The same, but the thread's last error stays what it was. */
cudaError_t rt_leave_quietly(struct rt_call *call, cudaError_t result);

/* Opens an entry point. The sites form one section, which is the table of callback names. */
#define RT_OPEN(full, params_, need)                                                               \
    static const struct rt_site site_                                                              \
        __attribute__((section("rt_sites"), used)) = {#full, CUPTI_RUNTIME_TRACE_CBID_##full};     \
    struct rt_call call_ = {.site = &site_, .params = (params_)};                                  \
    CUresult ready_ = rt_enter(&call_, need);                                                      \
    do {                                                                                           \
        if (ready_ != CUDA_SUCCESS)                                                                \
            return rt_leave(&call_, ready_);                                                       \
    } while (0)

#define ENTER_NEEDING(need, full, ...)                                                             \
    full##_params call_params_ = {__VA_ARGS__};                                                    \
    RT_OPEN(full, &call_params_, need)

#define ENTER(full, ...) ENTER_NEEDING(RT_CONTEXT, full, __VA_ARGS__)
#define LEAVE(result) return rt_leave(&call_, (CUresult)(result))

/* Threads and contexts (driver.c). */
CUresult rt_bind_device(int device); /* makes its primary context current to the thread */
CUresult rt_primary(int device, CUcontext *context);
CUresult rt_device(int *device);    /* the calling thread's */
CUcontext rt_current_context(void); /* NULL where there is none, or it has been reset */
CUresult rt_reset_device(void);     /* and forgets every module loaded there */
cudaError_t rt_last_error(bool take);

/* Registered code (module.c). `symbol` is the host side's address, or what cudaGetKernel gave. */
CUresult rt_function(const void *symbol, CUfunction *function);
CUresult rt_variable(const void *symbol, CUdeviceptr *address, size_t *size_bytes);
const char *rt_function_name(const void *symbol);
void rt_forget_modules(CUcontext context);

/* Parameter blocks (copy.c). */
CUresult rt_copy3d(const struct cudaMemcpy3DParms *from, CUDA_MEMCPY3D *to);
void rt_copy3d_back(const CUDA_MEMCPY3D *from, struct cudaMemcpy3DParms *to);
CUresult rt_copy3d_peer(const struct cudaMemcpy3DPeerParms *from, CUDA_MEMCPY3D_PEER *to);
CUresult rt_copy2d(CUDA_MEMCPY2D *to, void *dst, size_t dpitch, const void *src, size_t spitch,
                   size_t width, size_t height, enum cudaMemcpyKind kind);
CUresult rt_row(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
                CUDA_MEMCPY3D *to);
CUDA_MEMSET_NODE_PARAMS rt_fill(const struct cudaMemsetParams *from);
CUresult rt_kernel(const struct cudaKernelNodeParams *from, CUDA_KERNEL_NODE_PARAMS *to);

static inline CUdeviceptr rt_dptr(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

#endif
