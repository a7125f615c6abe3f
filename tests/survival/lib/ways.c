/* Copies of a program, made another way: preloaded, it stands before the runtime. TWIN_WAY names
 * the way of cudaMemcpyAsync, which the program cannot tell from a plain copy:
 *
 *     rows      as rows that lie side by side, in two dimensions
 *     layer     the same in three
 *     halves    as two copies, the second of which begins within a page of the first
 *     threads   by a thread that ends with the call
 *     ranges    between ranges of the host, by a batch, which is late there as a plain copy is not:
 *               what cudaMalloc gives is pinned memory
 *     managed   from and to managed memory, which cudaMalloc gives
 */
#define _GNU_SOURCE
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 256 };

struct copy {
    void *to;
    const void *from;
    size_t bytes;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    bool per_thread; /* which variant of the runtime's functions was called */
    cudaError_t result;
};

static bool way_is(const char *name)
{
    const char *way = getenv("TWIN_WAY");
    return way && strcmp(way, name) == 0;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

#define NEXT(name, per_thread)                                                                     \
    ((__typeof__(&name))((per_thread) ? next(#name "_ptsz") : next(#name)))

static cudaError_t plainly(const struct copy *c)
{
    return NEXT(cudaMemcpyAsync, c->per_thread)(c->to, c->from, c->bytes, c->kind, c->stream);
}

static cudaError_t by_rows(const struct copy *c)
{
    if (c->bytes == 0 || c->bytes % ROW_BYTES != 0)
        return plainly(c);
    return NEXT(cudaMemcpy2DAsync, c->per_thread)(c->to, ROW_BYTES, c->from, ROW_BYTES, ROW_BYTES,
                                                  c->bytes / ROW_BYTES, c->kind, c->stream);
}

static struct cudaPitchedPtr layer_at(const void *at, size_t bytes)
{
    return (struct cudaPitchedPtr){(void *)(size_t)at, ROW_BYTES, ROW_BYTES, bytes / ROW_BYTES};
}

static cudaError_t by_layer(const struct copy *c)
{
    if (c->bytes == 0 || c->bytes % ROW_BYTES != 0)
        return plainly(c);
    struct cudaMemcpy3DParms box = {.srcPtr = layer_at(c->from, c->bytes),
                                    .dstPtr = layer_at(c->to, c->bytes),
                                    .extent = {ROW_BYTES, c->bytes / ROW_BYTES, 1},
                                    .kind = c->kind};
    return NEXT(cudaMemcpy3DAsync, c->per_thread)(&box, c->stream);
}

static bool is_captured(const struct copy *c)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    NEXT(cudaStreamIsCapturing, c->per_thread)(c->stream, &status);
    return status != cudaStreamCaptureStatusNone;
}

static cudaError_t by_halves(const struct copy *c)
{
    struct copy first = *c, second = *c;
    if (c->bytes < 2 || is_captured(c)) /* whose nodes are counted */
        return plainly(c);
    first.bytes = c->bytes / 2 + c->bytes / 64;
    second.to = (char *)c->to + first.bytes;
    second.from = (const char *)c->from + first.bytes;
    second.bytes -= first.bytes;
    cudaError_t result = plainly(&first);
    return result ? result : plainly(&second);
}

static void *on_thread(void *argument)
{
    struct copy *c = argument;
    c->result = plainly(c);
    return NULL;
}

static cudaError_t by_thread(struct copy *c)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, on_thread, c) != 0)
        abort();
    pthread_join(thread, NULL);
    return c->result;
}

static bool is_hosts(const void *memory)
{
    struct cudaPointerAttributes attributes;
    return NEXT(cudaPointerGetAttributes, false)(&attributes, memory) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost;
}

/* The legacy stream takes no batch, and a capture only from 13.1 on. */
static cudaError_t by_batch(struct copy *c)
{
    struct cudaMemcpyAttributes attributes = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t first = 0;
    bool can = c->stream && !is_captured(c) && c->bytes && is_hosts(c->to) && is_hosts(c->from);
    c->kind = cudaMemcpyDefault;
    return can ? NEXT(cudaMemcpyBatchAsync, c->per_thread)(&c->to, &c->from, &c->bytes, 1,
                                                           &attributes, &first, 1, c->stream)
               : plainly(c);
}

static cudaError_t any_way(struct copy c)
{
    if (way_is("rows"))
        return by_rows(&c);
    if (way_is("layer"))
        return by_layer(&c);
    if (way_is("halves"))
        return by_halves(&c);
    if (way_is("threads"))
        return by_thread(&c);
    if (way_is("ranges"))
        return by_batch(&c);
    if (way_is("managed"))
        c.kind = cudaMemcpyDefault;
    return plainly(&c);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    return any_way((struct copy){to, from, bytes, kind, stream, .per_thread = false});
}

cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    return any_way((struct copy){to, from, bytes, kind, stream, .per_thread = true});
}

/* ---- device memory that is the host's ---- */

cudaError_t cudaMalloc(void **memory, size_t bytes)
{
    if (way_is("ranges"))
        return NEXT(cudaMallocHost, false)(memory, bytes);
    return way_is("managed") ? NEXT(cudaMallocManaged, false)(memory, bytes, cudaMemAttachGlobal)
                             : NEXT(cudaMalloc, false)(memory, bytes);
}

cudaError_t cudaFree(void *memory)
{
    return way_is("ranges") && memory && is_hosts(memory) ? NEXT(cudaFreeHost, false)(memory)
                                                          : NEXT(cudaFree, false)(memory);
}
