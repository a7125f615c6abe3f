/* A profiler in miniature, for the programs of this folder: it finds libcupti as profilers do, and
 * counts what it hears. */
#ifndef PROFILER_H
#define PROFILER_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define CUDA(call) CHECK((call) == 0)

enum { BYTES = 4096 };

static struct {
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable;
    CUpti_SubscriberHandle handle;
    _Atomic unsigned heard;
} profiler;

static void CUPTIAPI profiler_hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                   const void *about)
{
    (void)domain, (void)id, (void)about;
    CHECK(user == &profiler);
    atomic_fetch_add(&profiler.heard, 1);
}

static inline void profiler_load(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    CHECK(library);
    *(void **)&profiler.subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&profiler.unsubscribe = dlsym(library, "cuptiUnsubscribe");
    *(void **)&profiler.enable = dlsym(library, "cuptiEnableCallback");
    CHECK(profiler.subscribe && profiler.unsubscribe && profiler.enable);
}

/* It may always subscribe, whatever the library does. */
static inline void profiler_begin(void)
{
    CHECK(profiler.subscribe(&profiler.handle, profiler_hear, &profiler) == CUPTI_SUCCESS);
    CHECK(profiler.enable(1, profiler.handle, CUPTI_CB_DOMAIN_RUNTIME_API,
                          CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020) == CUPTI_SUCCESS);
    atomic_store(&profiler.heard, 0);
}

static inline void profiler_end(void)
{
    CHECK(profiler.unsubscribe(profiler.handle) == CUPTI_SUCCESS);
}

static void *device, *pinned;
static cudaStream_t stream;

static inline void set_up(void)
{
    CUDA(cudaMalloc(&device, BYTES));
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaStreamCreate(&stream));
}

static inline void copy(void)
{
    CUDA(cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
}

#endif
