// expect: none
// options: device=1
//
// Bodies that are not known to run: another body is chosen, the condition begins as false or as
// nothing that is known, a kernel before the node may set it, or the node is in a body itself. None
// does what its nodes say, or in the last two cases what comes out is the same. What they name is
// filled by another stream meanwhile.
#include "conditional.h"
#include "kernel.h"

static CUgraph begins_false(CUdeviceptr memory)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    add_clear(bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 1, 0)[0], memory);
    return graph;
}

static CUgraph other_bodies(CUdeviceptr memory)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    const CUgraph *bodies = bodies_of(graph, CU_GRAPH_COND_TYPE_SWITCH, 3, 1);
    add_clear(bodies[0], memory);
    add_clear(bodies[2], memory);
    add_clear(bodies_of(graph, CU_GRAPH_COND_TYPE_SWITCH, 1, 7)[0], memory);
    add_clear(bodies_of(graph, CU_GRAPH_COND_TYPE_IF, 2, 1)[1], memory);
    return graph;
}

static CUgraph begins_as_nothing(CUdeviceptr memory)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraphConditionalHandle handle = condition_of(graph, 1, 0);
    add_clear(bodies_behind(graph, NULL, 0, handle, CU_GRAPH_COND_TYPE_IF, 1)[0], memory);
    return graph;
}

/* Fills with what is there. */
static CUgraph kernel_beside(CUdeviceptr memory, const void *same)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    add_own_kernel(graph, NULL);
    add_copy(body_of_if(graph), memory, same);
    return graph;
}

static CUgraph in_a_body(CUdeviceptr memory, const void *same)
{
    CUgraph graph = NULL;
    CHECK(cuGraphCreate(&graph, 0));
    CUgraph body = body_of_if(graph);
    add_own_kernel(body, NULL);
    add_copy(body_of_if(body), memory, same);
    return graph;
}

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), up = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    const CUgraph graphs[] = {begins_false(device), other_bodies(device), begins_as_nothing(device),
                              kernel_beside(device, source), in_a_body(device, source)};

    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        CUgraphExec exec = NULL;
        CHECK(cuGraphInstantiateWithFlags(&exec, graphs[i], 0));
        driver_busy(up);
        CHECK(cuMemcpyHtoDAsync(device, source, SMALL, up));
        CHECK(cuGraphLaunch(exec, work));
        CHECK(cuMemcpyHtoDAsync(device, source, SMALL, up));
        CHECK(cuCtxSynchronize());
    }
    return finish(driver_device_holds(device, SMALL, WANTED));
}
