// expect: none
//
// The source of a copy in the body of a conditional node is filled anew after each launch is
// complete, and freed when the graph, the node and the exec are gone.
#include "conditional.h"

enum { TURNS = 10 };

int main(void)
{
    driver_start();
    bool right = true;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    size_t count = 1;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    CHECK(cuGraphCreate(&graph, 0));
    capture_into(body_of_if(graph), device, source, SMALL, stream);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    for (int turn = 0; turn < TURNS; turn++) {
        fill(source, SMALL, turn);
        driver_replay(exec, stream);
        right = right && driver_device_holds(device, SMALL, turn);
    }

    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphGetNodes(graph, &node, &count));
    CHECK(cuGraphDestroyNode(node));
    CHECK(cuMemFreeHost(source));
    CHECK(cuGraphDestroy(graph));
    return finish(right && count == 1);
}
