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

    change_copy(exec, node, device, sources[1]);
    bool right = launch_without(exec, sources[0], device, 1, stream);

    CHECK(cuGraphExecUpdate(exec, other, &info));
    right = launch_without(exec, sources[1], device, 2, stream) && right;

    CHECK(cuGraphDestroy(other));
    change_copy(exec, node, device, sources[3]);
    return finish(launch_without(exec, sources[2], device, 3, stream) && right);
}
