/* What the runtimes call. */
#include "ear.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Q5: what runtimes call ---- */

struct runtime {
    void *library;
    cudaError_t (*memcpy_async)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
    cudaError_t (*memcpy_async_ptsz)(void *, const void *, size_t, enum cudaMemcpyKind,
                                     cudaStream_t);
    cudaError_t (*memcpy)(void *, const void *, size_t, enum cudaMemcpyKind);
    cudaError_t (*memcpy_2d)(void *, size_t, const void *, size_t, size_t, size_t,
                             enum cudaMemcpyKind, cudaStream_t);
    cudaError_t (*memset_async)(void *, int, size_t, cudaStream_t);
    cudaError_t (*malloc)(void **, size_t);
    cudaError_t (*free)(void *);
    cudaError_t (*malloc_host)(void **, size_t);
    cudaError_t (*free_host)(void *);
    cudaError_t (*host_register)(void *, size_t, unsigned);
    cudaError_t (*host_unregister)(void *);
    cudaError_t (*malloc_async)(void **, size_t, cudaStream_t);
    cudaError_t (*free_async)(void *, cudaStream_t);
    cudaError_t (*synchronize)(cudaStream_t);
    cudaError_t (*device_synchronize)(void);
    cudaError_t (*begin_capture)(cudaStream_t, enum cudaStreamCaptureMode);
    cudaError_t (*end_capture)(cudaStream_t, cudaGraph_t *);
    cudaError_t (*host_function)(cudaStream_t, cudaHostFn_t, void *);
};

static bool load_runtime(struct runtime *r, const char *path)
{
    r->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!r->library)
        return false;
#define FIND(member, name) *(void **)&r->member = dlsym(r->library, name)
    FIND(memcpy_async, "cudaMemcpyAsync");
    FIND(memcpy_async_ptsz, "cudaMemcpyAsync_ptsz");
    FIND(memcpy, "cudaMemcpy");
    FIND(memcpy_2d, "cudaMemcpy2DAsync");
    FIND(memset_async, "cudaMemsetAsync");
    FIND(malloc, "cudaMalloc");
    FIND(free, "cudaFree");
    FIND(malloc_host, "cudaMallocHost");
    FIND(free_host, "cudaFreeHost");
    FIND(host_register, "cudaHostRegister");
    FIND(host_unregister, "cudaHostUnregister");
    FIND(malloc_async, "cudaMallocAsync");
    FIND(free_async, "cudaFreeAsync");
    FIND(synchronize, "cudaStreamSynchronize");
    FIND(device_synchronize, "cudaDeviceSynchronize");
    FIND(begin_capture, "cudaStreamBeginCapture");
    FIND(end_capture, "cudaStreamEndCapture");
    FIND(host_function, "cudaLaunchHostFunc");
#undef FIND
    return r->memcpy_async != NULL;
}

/* One runtime call and what both domains say of it, in order. */
#define CALL(version, label, call)                                                                 \
    do {                                                                                           \
        say("Q5 %s %s:", version, label);                                                          \
        ear.tell = ear.tell_exit = true;                                                           \
        int rc_ = (int)(call);                                                                     \
        ear.tell = ear.tell_exit = false;                                                          \
        say(" = %d", rc_);                                                                         \
        end_line();                                                                                \
    } while (0)

static void q5_calls(const char *v, const struct runtime *r)
{
    void *memory = NULL, *block = NULL, *device_memory = (void *)(uintptr_t)dev;
    void *registered = aligned_alloc(4096, 64 * KB), *pageable = malloc(64 * KB);
    cudaGraph_t graph = NULL;

    CALL(v, "cudaMemcpyAsync H2D pinned",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaMemcpyAsync D2H pinned",
         r->memcpy_async(pinned, device_memory, 64, cudaMemcpyDeviceToHost, stream));
    CALL(v, "cudaMemcpyAsync default kind",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyDefault, stream));
    CALL(v, "cudaMemcpyAsync D2D",
         r->memcpy_async(device_memory, (char *)device_memory + KB, 64, cudaMemcpyDeviceToDevice,
                         stream));
    CALL(v, "cudaMemcpyAsync H2H",
         r->memcpy_async(pinned, pageable, 64, cudaMemcpyHostToHost, stream));
    CALL(v, "cudaMemcpyAsync H2D pageable",
         r->memcpy_async(device_memory, pageable, 64, cudaMemcpyHostToDevice, stream));
    if (r->memcpy_async_ptsz)
        CALL(v, "cudaMemcpyAsync_ptsz",
             r->memcpy_async_ptsz(device_memory, pinned, 64, cudaMemcpyHostToDevice, 0));
    CALL(v, "cudaMemcpy H2D", r->memcpy(device_memory, pinned, 64, cudaMemcpyHostToDevice));
    CALL(v, "cudaMemcpy2DAsync",
         r->memcpy_2d(device_memory, 64, pinned, 128, 64, 4, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaMemsetAsync", r->memset_async(device_memory, 0, 64, stream));
    CALL(v, "cudaMallocHost", r->malloc_host(&memory, KB));
    CALL(v, "cudaFreeHost", r->free_host(memory));
    CALL(v, "cudaHostRegister", r->host_register(registered, 64 * KB, 0));
    CALL(v, "cudaHostUnregister", r->host_unregister(registered));
    CALL(v, "cudaMalloc", r->malloc(&block, KB));
    CALL(v, "cudaFree", r->free(block));
    if (r->malloc_async) {
        CALL(v, "cudaMallocAsync", r->malloc_async(&block, KB, stream));
        CALL(v, "cudaFreeAsync", r->free_async(block, stream));
    }
    CALL(v, "cudaLaunchHostFunc", r->host_function(stream, nothing, NULL));
    CALL(v, "cudaStreamBeginCapture", r->begin_capture(stream, cudaStreamCaptureModeThreadLocal));
    CALL(v, "cudaMemcpyAsync captured",
         r->memcpy_async(device_memory, pinned, 64, cudaMemcpyHostToDevice, stream));
    CALL(v, "cudaStreamEndCapture", r->end_capture(stream, &graph));
    CALL(v, "cudaStreamSynchronize", r->synchronize(stream));
    CALL(v, "cudaDeviceSynchronize", r->device_synchronize());
}

static void q5_runtime(const char *version, const char *const *paths)
{
    struct runtime runtime = {0};
    char label[32];

    for (; *paths && !load_runtime(&runtime, *paths); paths++)
        ;
    if (!*paths) {
        say("Q5 no cudart %s here", version);
        end_line();
        return;
    }
    snprintf(label, sizeof label, "cudart %s", version);
    runtime.memcpy((void *)(uintptr_t)dev, pinned, 64, cudaMemcpyHostToDevice); /* it starts up */
    q5_calls(label, &runtime);
}

void q5(void)
{
    static const char *const paths_13[] = {"out/cuda/lib/libcudart.so.13", "libcudart.so.13",
                                           "/usr/local/cuda/lib64/libcudart.so.13", NULL};
    static const char *const paths_12[] = {"out/cuda12/lib/libcudart.so.12", "libcudart.so.12",
                                           NULL};
    static const char *const paths_11[] = {"out/cuda11/lib/libcudart.so.11.0", "libcudart.so.11.0",
                                           NULL};

    say("Q5 Name[id]#correlation, R: of the runtime's domain, / its exit");
    if (!begin())
        return;
    say(" (subscribe CUPTI %d)", (int)subscribe());
    end_line();
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
    enable_domain(CUPTI_CB_DOMAIN_RUNTIME_API);
    q5_runtime("13", paths_13);
    q5_runtime("12", paths_12);
    q5_runtime("11.8", paths_11);
}
