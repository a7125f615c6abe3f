// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A copy is captured into the body of a conditional node.
#include "conditional.h"

int main(void)
{
    driver_start();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuGraphCreate(&graph, 0));
    capture_into(body_of_if(graph), device, source, SMALL, stream);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphDestroy(graph));

    if (fixed)
        driver_replay(exec, stream);
    CHECK(cuMemHostUnregister(source));
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        driver_replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN);
    return finish(right && driver_device_holds(device, SMALL, WANTED));
}
