/* Managed memory, and every way to copy to it and from it that only the stream carries out. */
#ifndef SC_TESTS_HAZARD_MANAGED_H
#define SC_TESTS_HAZARD_MANAGED_H

#include "twin.h"

static TWIN_HELPER void *managed_block(size_t size_bytes, unsigned seed)
{
    void *block = NULL;
    CHECK(cudaMallocManaged(&block, size_bytes, cudaMemAttachGlobal));
    fill(block, size_bytes, seed);
    return block;
}

/* Holds the stream up as busy() does, if only for some milliseconds, by what cannot write host
 * memory: sources behind it are snapshotted. */
static inline void occupy(cudaStream_t stream)
{
    enum { COPIES = 200, BYTES = 4 << 20 };
    char *device = NULL;
    CHECK(cudaMalloc((void **)&device, 2 * BYTES));
    for (int i = 0; i < COPIES; i++)
        CHECK(cudaMemcpyAsync(device, device + BYTES, BYTES, cudaMemcpyDeviceToDevice, stream));
}

/* Of whole rows of ROW_BYTES. Each is inline, since it must call the variant of the API that the
 * twin is built for. */
enum { ROW_BYTES = 256 };

static inline void copy_plainly(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream));
}

static inline void copy_rows(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpy2DAsync(to, ROW_BYTES, from, ROW_BYTES, ROW_BYTES, size_bytes / ROW_BYTES,
                            cudaMemcpyDefault, stream));
}

static TWIN_HELPER struct cudaPitchedPtr layer(const void *at, size_t size_bytes)
{
    return (struct cudaPitchedPtr){(void *)(uintptr_t)at, ROW_BYTES, ROW_BYTES,
                                   size_bytes / ROW_BYTES};
}

static inline void copy_layer(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = layer(from, size_bytes);
    box.dstPtr = layer(to, size_bytes);
    box.extent = (struct cudaExtent){ROW_BYTES, size_bytes / ROW_BYTES, 1};
    box.kind = cudaMemcpyDefault;
    CHECK(cudaMemcpy3DAsync(&box, stream));
}

static inline void copy_as_peers(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyPeerAsync(to, 0, from, 0, size_bytes, stream));
}

static inline void copy_in_batch(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    struct cudaMemcpyAttributes attributes;
    size_t first = 0;
    memset(&attributes, 0, sizeof attributes);
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(&to, &from, &size_bytes, 1, &attributes, &first, 1, stream));
}

static inline void launch_and_destroy(cudaGraph_t graph, cudaStream_t stream)
{
    cudaGraphExec_t exec = NULL;
    CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphExecDestroy(exec));
}

/* Captured on a stream of its own, as the other one may be busy. */
static inline void copy_captured(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaStream_t capturing = new_stream();
    CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, capturing));
    CHECK(cudaStreamEndCapture(capturing, &graph));
    CHECK(cudaStreamDestroy(capturing));
    launch_and_destroy(graph, stream);
}

static inline void copy_by_node(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    cudaGraph_t graph = NULL;
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&node, graph, NULL, 0, to, from, size_bytes, cudaMemcpyDefault));
    launch_and_destroy(graph, stream);
}

/* By the kind that says so, where that is the host's memory or the device's. */
static inline void copy_up(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyHostToDevice, stream));
}

static inline void copy_down(void *to, const void *from, size_t size_bytes, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDeviceToHost, stream));
}

typedef void managed_copy(void *to, const void *from, size_t size_bytes, cudaStream_t stream);

static TWIN_UNUSED managed_copy *const managed_copies[] = {
    copy_plainly, copy_rows, copy_layer, copy_as_peers, copy_in_batch, copy_captured, copy_by_node,
};
enum { MANAGED_COPIES = sizeof managed_copies / sizeof *managed_copies };

#endif
