// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A node of a child graph is given another source in the exec alone, by its own name. The racy
// build frees that one before a launch; the fixed one frees what the node named before.
#include "children.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *former = driver_pinned_block(SMALL, WANTED);
    void *source = driver_pinned_block(SMALL, WANTED);
    CUgraph graph = new_graph(), child = new_graph();
    CUgraphNode node = add_copy(child, device, former);
    moved_child(graph, child);
    CUgraphExec exec = exec_of(graph);
    change_copy(exec, node, device, source);

    CHECK(cuMemFreeHost(fixed ? former : source));
    void *next = driver_pinned_block(SMALL, FOREIGN);
    driver_replay(exec, stream);
    return finish(holds(next, SMALL, FOREIGN) && driver_device_holds(device, SMALL, WANTED));
}
