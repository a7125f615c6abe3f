// expect: none
//
// With a green context current, cuMemFreeHost and cuMemHostUnregister wait for the primary context
// also where a graph names the memory, which is never launched again. What is unregistered may be
// registered anew.
#include "green.h"

static CUgraph graph_of(void *source, CUdeviceptr target, CUcontext context)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = source,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = target,
        .WidthInBytes = SMALL,
        .Height = 1,
        .Depth = 1,
    };
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, context));
    return graph;
}

static bool is_there(CUstream stream, CUdeviceptr device, void *target, CUresult (*wait)(void *),
                     void *memory)
{
    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    CHECK(wait(memory));
    bool there = holds(target, SMALL, WANTED);
    fill(target, SMALL, FOREIGN);
    return there;
}

int main(void)
{
    driver_start();
    CUcontext primary = NULL;
    CUcontext context = NULL;
    CUgreenCtx green = green_context();
    CUstream own = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *target = driver_registered_block(SMALL, FOREIGN);
    void *pinned = driver_pinned_block(SMALL, WANTED);
    void *registered = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&primary));
    CUgraph first = graph_of(pinned, device, primary);
    CUgraph second = graph_of(registered, device, primary);

    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxPushCurrent(context));
    bool right = is_there(own, device, target, cuMemFreeHost, pinned);
    right = is_there(own, device, target, cuMemHostUnregister, registered) && right;
    CHECK(cuMemHostRegister(registered, SMALL, 0));
    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuGraphDestroy(first));
    CHECK(cuGraphDestroy(second));
    return finish(right);
}
