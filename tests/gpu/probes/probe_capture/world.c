#include "world.h"

#include <stdatomic.h>
#include <stdlib.h>

CUfunction spin_kernel;
CUstream blocking, blocking2, nonblocking, nonblocking2;
CUdeviceptr dev_a, dev_b;
CUevent event, event2;
atomic_uint host_runs;

void say_took(double ms)
{
    if (ms < 1)
        say("%.0f us", ms * 1e3);
    else
        say("%.1f ms%s", ms, ms > AT_ONCE_MS ? " (BLOCKS)" : "");
}

void occupy(CUstream stream, unsigned ms)
{
    launch_spin(spin_kernel, stream, ms);
}

void CUDA_CB count_run(void *unused)
{
    (void)unused;
    atomic_fetch_add(&host_runs, 1);
}

/* ---- memory of the three kinds ---- */

const char *const kind_names[KINDS] = {"pageable", "pinned", "registered"};

unsigned char *take(enum kind kind, size_t size_bytes)
{
    unsigned char *p = NULL;

    if (kind == PINNED) {
        TRY(cuMemAllocHost((void **)&p, size_bytes));
        return p;
    }
    p = map_pages(size_bytes);
    if (p && kind == REGISTERED)
        TRY(cuMemHostRegister(p, size_bytes, 0));
    return p;
}

void give(enum kind kind, unsigned char *p, size_t size_bytes)
{
    if (kind == REGISTERED)
        TRY(cuMemHostUnregister(p));
    if (kind == PINNED)
        TRY(cuMemFreeHost(p));
    else
        unmap_pages(p, size_bytes);
}

/* The one value that all bytes have, or -1. */
int value_of(const unsigned char *bytes, size_t size_bytes)
{
    for (size_t i = 1; i < size_bytes; i++)
        if (bytes[i] != bytes[0])
            return -1;
    return bytes[0];
}

int device_value(CUdeviceptr at, size_t size_bytes)
{
    unsigned char *seen = malloc(size_bytes);
    int value = -1;

    if (seen && TRY(cuMemcpyDtoH(seen, at, size_bytes)) == CUDA_SUCCESS)
        value = value_of(seen, size_bytes);
    free(seen);
    return value;
}

/* ---- captures ---- */

CUresult begin_capture(CUstream stream, CUstreamCaptureMode mode)
{
    CUresult rc = TRY(cuStreamBeginCapture(stream, mode));

    if (rc == CUDA_SUCCESS)
        TRY(cuMemsetD8Async(dev_b, 0, 16, stream));
    return rc;
}

/* Ends the capture and throws its graph away; *nodes says how many nodes that had. */
CUresult drop_capture(CUstream stream, size_t *nodes)
{
    CUgraph graph = NULL;
    CUresult rc = cuStreamEndCapture(stream, &graph);

    *nodes = 0;
    if (graph) {
        cuGraphGetNodes(graph, NULL, nodes);
        cuGraphDestroy(graph);
    }
    return rc;
}

CUstreamCaptureMode exchange(CUstreamCaptureMode mode)
{
    cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

CUgraphExec instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;

    TRY(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

/* Ends the capture of `stream`; NULL, and a word in the line, when it fails. */
CUgraph end_capture(CUstream stream)
{
    CUgraph graph = NULL;

    TRY(cuStreamEndCapture(stream, &graph));
    return graph;
}

void throw_away(CUgraphExec exec, CUgraph graph)
{
    TRY(cuGraphExecDestroy(exec));
    TRY(cuGraphDestroy(graph));
}

CUgraphNode only_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    size_t count = 1;

    TRY(cuGraphGetNodes(graph, &node, &count));
    return node;
}

CUDA_MEMCPY3D flat_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    CUDA_MEMCPY3D c = {.WidthInBytes = bytes, .Height = 1, .Depth = 1};

    c.srcMemoryType = to_device ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    c.dstMemoryType = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (to_device) {
        c.srcHost = host;
        c.dstDevice = dev;
    } else {
        c.srcDevice = dev;
        c.dstHost = host;
    }
    return c;
}

CUgraph captured_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (to_device)
        TRY(cuMemcpyHtoDAsync(dev, host, bytes, nonblocking2));
    else
        TRY(cuMemcpyDtoHAsync(host, dev, bytes, nonblocking2));
    return end_capture(nonblocking2);
}

CUgraph added_copy(bool to_device, unsigned char *host, CUdeviceptr dev, size_t bytes)
{
    CUDA_MEMCPY3D c = flat_copy(to_device, host, dev, bytes);
    CUgraph graph = NULL;
    CUgraphNode node;

    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &c, primary));
    return graph;
}

CUgraph spinning_graph(unsigned ms)
{
    TRY(cuStreamBeginCapture(nonblocking2, CU_STREAM_CAPTURE_MODE_GLOBAL));
    occupy(nonblocking2, ms);
    return end_capture(nonblocking2);
}
