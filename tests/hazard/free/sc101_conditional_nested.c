// expect: SC101 action=deferred certainty=observed direction=H2D
//
// A body within a body, both of which run in every launch, has a child graph that reads what is
// freed. A kernel behind the inner node sets its condition too late.
#include "conditional.h"
#include "kernel.h"

static TWIN_HELPER void add_child(CUgraph graph, CUdeviceptr device, const void *source)
{
    CUgraphNode node = NULL;
    CUgraph child = new_graph();
    add_copy(child, device, source);
    CHECK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    CHECK(cuGraphDestroy(child));
}

static TWIN_HELPER void add_kernel_behind_first(CUgraph graph)
{
    CUgraphNode first = NULL;
    size_t one = 1;
    CHECK(cuGraphGetNodes(graph, &first, &one));
    add_own_kernel(graph, &first);
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CUgraph graph = new_graph(), body = body_of_if(graph);
    add_child(body_of_if(body), device, source);
    add_kernel_behind_first(body);
    CUgraphExec exec = exec_of(graph);

    driver_busy(stream);
    CHECK(cuGraphLaunch(exec, stream));
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuGraphExecDestroy(exec));
        CHECK(cuGraphDestroy(graph));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
