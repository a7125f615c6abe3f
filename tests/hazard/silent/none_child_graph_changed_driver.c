// expect: none
//
// Nodes of child graphs are given other sources in the exec alone, by their own names, as XLA does:
// of a child that was moved, and of the child of a child. What they named before is theirs no more:
// it is written while a launch is in flight, and freed before the next one. So it is with what a
// node names that is disabled.
#include "children.h"

enum { SOURCES = 4 };

static void *sources[SOURCES];

static bool change_twice(CUgraph graph, CUgraphNode node, CUdeviceptr device, CUstream stream)
{
    CUgraphExec exec = exec_of(graph);
    bool right = true;
    for (unsigned i = 1; i < SOURCES; i++) {
        change_copy(exec, node, device, sources[i]);
        right = launch_without(exec, sources[i - 1], device, i, stream) && right;
    }
    CHECK(cuGraphNodeSetEnabled(exec, node, 0));
    return launch_without(exec, sources[SOURCES - 1], device, SOURCES - 1, stream) && right;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    bool right = true;
    for (unsigned depth = 1; depth <= 2; depth++) {
        for (unsigned i = 0; i < SOURCES; i++)
            sources[i] = driver_registered_block(SMALL, i);
        CUgraph graph = new_graph();
        CUgraphNode node = add_copy(graph, device, sources[0]);
        for (unsigned i = 0; i < depth; i++) {
            CUgraph child = graph;
            graph = new_graph();
            moved_child(graph, child);
        }
        right = change_twice(graph, node, device, stream) && right;
    }
    return finish(right);
}
