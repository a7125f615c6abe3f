// expect: none
// needs: sim
//
// An exec's child graph nodes are given other children, one by one from within, and the node that
// the first child was made with goes on to name the copy. Each time what the copy named before is
// written while a launch is in flight, and freed before the next one.
#include "children.h"

enum { SOURCES = 5 };

static CUgraph graph_of_copy(CUdeviceptr device, const void *source)
{
    CUgraph graph = new_graph();
    add_copy(graph, device, source);
    return graph;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *sources[SOURCES];
    for (unsigned i = 0; i < SOURCES; i++)
        sources[i] = driver_registered_block(SMALL, i);
    CUgraph graph = new_graph(), child = new_graph(), grandchild = new_graph(), other = new_graph();
    CUgraphNode node = add_copy(grandchild, device, sources[0]);
    CUgraphNode inner = moved_child(child, grandchild);
    CUgraphNode outer = moved_child(graph, child);
    CUgraphExec exec = exec_of(graph);

    CHECK(cuGraphExecChildGraphNodeSetParams(exec, inner, graph_of_copy(device, sources[1])));
    bool right = launch_without(exec, sources[0], device, 1, stream);
    change_copy(exec, node, device, sources[2]);
    right = launch_without(exec, sources[1], device, 2, stream) && right;

    moved_child(other, graph_of_copy(device, sources[3]));
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, outer, other));
    right = launch_without(exec, sources[2], device, 3, stream) && right;
    change_copy(exec, node, device, sources[4]);
    return finish(launch_without(exec, sources[3], device, 4, stream) && right);
}
