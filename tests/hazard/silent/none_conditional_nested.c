// expect: none
// needs: sim
//
// Bodies end with the node that they belong to, nested ones too, and do so with the node or with
// the graph: then nothing names the source any more, and it goes back at once. The simulated GPU
// hands out next what was freed last.
#include "conditional.h"

enum { ROUNDS = 4 };

static void destroy_nodes(CUgraph graph)
{
    CUgraphNode node = NULL;
    size_t count = 1;
    CHECK(cuGraphGetNodes(graph, &node, &count));
    CHECK(cuGraphDestroyNode(node));
}

static bool goes_back(bool with_node, CUdeviceptr device, unsigned seed, CUstream stream)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    void *source = driver_pinned_block(SMALL, seed);
    CHECK(cuGraphCreate(&graph, 0));
    CUgraph body = body_of_if(graph);
    add_copy(body, device, source);
    add_copy(body_of_if(body), device, source);
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    driver_replay(exec, stream);
    bool right = driver_device_holds(device, SMALL, seed);
    CHECK(cuGraphExecDestroy(exec));

    if (with_node)
        destroy_nodes(graph);
    else
        CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFreeHost(source));
    void *next = driver_pinned_block(SMALL, FOREIGN);
    right = right && next == source;
    CHECK(cuMemFreeHost(next));
    if (with_node)
        CHECK(cuGraphDestroy(graph));
    return right;
}

int main(void)
{
    driver_start();
    bool right = true;
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    for (unsigned round = 0; round < ROUNDS; round++)
        right = goes_back(round % 2, device, round, stream) && right;
    return finish(right);
}
