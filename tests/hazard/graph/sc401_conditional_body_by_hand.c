// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A copy is added by hand to the body of a conditional node.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    CHECK(cuGraphCreate(&graph, 0));
    add_copy(body_of_if(graph), device, source);
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
