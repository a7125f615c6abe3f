// expect: none
//
// Bodies that run and bodies that may run, in one another, with a child graph: the program waits
// for each launch before it uses what they name. A kernel before a node may set its condition.
#include "conditional.h"
#include "kernel.h"

enum { TURNS = 4 };

struct named {
    CUdeviceptr up, up_deep, down;
    void *source, *deep, *result;
};

static CUgraph graph_of(const struct named *named)
{
    CUgraph graph = new_graph(), child = new_graph(), body = body_of_if(graph);
    CUgraphNode node = NULL;
    add_copy(body, named->up, named->source);
    add_copy(child, named->up_deep, named->deep);
    CHECK(cuGraphAddChildGraphNode(&node, body_of_if(body), NULL, 0, child));
    node = add_own_kernel(graph, NULL);
    CUgraphConditionalHandle handle = condition_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    add_download(bodies_behind(graph, &node, 1, handle, CU_GRAPH_COND_TYPE_IF, 1)[0], named->result,
                 named->down);
    return graph;
}

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    const struct named named = {driver_device_block(SMALL, 0),      driver_device_block(SMALL, 0),
                                driver_device_block(SMALL, WANTED), driver_pinned_block(SMALL, 0),
                                driver_registered_block(SMALL, 0),  driver_pinned_block(SMALL, 0)};
    CUgraph graph = graph_of(&named);
    CUgraphExec exec = exec_of(graph);
    bool right = true;

    for (unsigned turn = 0; turn < TURNS; turn++) {
        fill(named.source, SMALL, turn);
        fill(named.deep, SMALL, turn + 1);
        fill(named.result, SMALL, FOREIGN);
        driver_busy(stream);
        driver_replay(exec, stream);
        right = right && holds(named.result, SMALL, WANTED) &&
                driver_device_holds(named.up, SMALL, turn) &&
                driver_device_holds(named.up_deep, SMALL, turn + 1);
    }
    CHECK(cuMemHostUnregister(named.deep));
    free(named.deep);
    CHECK(cuMemFreeHost(named.source));
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    return finish(right);
}
