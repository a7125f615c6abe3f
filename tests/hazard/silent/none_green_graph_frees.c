// expect: none
//
// With a green context current, cuMemFreeHost and cuMemHostUnregister wait for the primary context
// also where a graph names the memory, which is never launched again. What is unregistered may be
// registered anew.
#include "graphs_driver.h"
#include "green.h"

static CUgraph graph_of(void *source, CUdeviceptr target)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    add_copy(graph, target, source);
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
    CUcontext context = NULL;
    CUgreenCtx green = green_context();
    CUstream own = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *target = driver_registered_block(SMALL, FOREIGN);
    void *pinned = driver_pinned_block(SMALL, WANTED);
    void *registered = driver_registered_block(SMALL, WANTED);
    CUgraph first = graph_of(pinned, device);
    CUgraph second = graph_of(registered, device);

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
