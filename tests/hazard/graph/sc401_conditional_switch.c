// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A SWITCH node runs the last of its bodies, which copies from freed memory.
#include "conditional.h"

enum { CASES = 5 };

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    CHECK(cuGraphCreate(&graph, 0));
    const CUgraph *bodies = bodies_of(graph, CU_GRAPH_COND_TYPE_SWITCH, CASES, CASES - 1);
    add_copy(bodies[CASES - 1], device, source);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    if (fixed)
        driver_replay(exec, stream);
    CHECK(cuMemFreeHost(source));
    void *next = driver_pinned_block(SMALL, FOREIGN);
    if (!fixed)
        driver_replay(exec, stream);

    bool right = holds(next, SMALL, FOREIGN);
    return finish(right && driver_device_holds(device, SMALL, WANTED));
}
