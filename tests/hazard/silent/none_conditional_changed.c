// expect: none
//
// Nodes of a body are given other sources in the exec alone, by their own names, also when the exec
// was updated by another graph. What they named before is theirs no more: it is written while a
// launch is in flight, and freed before the next one.
#include "conditional.h"

enum { SOURCES = 4 };

static CUgraphNode copying_body(CUgraph graph, CUdeviceptr device, const void *source)
{
    return add_copy(body_of_if(graph), device, source);
}

static void change(CUgraphExec exec, CUgraphNode node, CUdeviceptr device, const void *source)
{
    CUgraphNodeParams params = driver_copy_params(device, source);
    CHECK(cuGraphExecNodeSetParams(exec, node, &params));
}

static void launch_without(CUgraphExec exec, void *former, CUstream stream)
{
    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    fill(former, SMALL, FOREIGN);
    CHECK(cuMemHostUnregister(former));
    free(former);
    CHECK(cuStreamSynchronize(stream));
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUgraphExecUpdateResultInfo info;
    void *sources[SOURCES];
    for (unsigned i = 0; i < SOURCES; i++)
        sources[i] = driver_registered_block(SMALL, i);
    CUgraph graph = new_graph(), other = new_graph();
    CUgraphNode node = copying_body(graph, device, sources[0]);
    CUgraphExec exec = exec_of(graph);
    copying_body(other, device, sources[2]);

    change(exec, node, device, sources[1]);
    launch_without(exec, sources[0], stream);
    bool right = driver_device_holds(device, SMALL, 1);

    CHECK(cuGraphExecUpdate(exec, other, &info));
    launch_without(exec, sources[1], stream);
    right = right && driver_device_holds(device, SMALL, 2);

    CHECK(cuGraphDestroy(other));
    change(exec, node, device, sources[3]);
    launch_without(exec, sources[2], stream);
    return finish(right && driver_device_holds(device, SMALL, 3));
}
