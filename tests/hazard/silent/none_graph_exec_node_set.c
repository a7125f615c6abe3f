// expect: none
//
// As none_graph_exec_updated, node by node; the graph still names the first input, and is never
// instantiated again.
#include "graphs.h"

enum { TURNS = 10 };

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, 0);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, input, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(graph);

    for (int turn = 1; turn <= TURNS; turn++) {
        void *next = pinned_block(SMALL, turn);
        CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, device, next, SMALL,
                                                 cudaMemcpyHostToDevice));
        CHECK(cudaFreeHost(input));
        replay(exec, stream);
        right = right && device_holds(device, SMALL, turn);
        input = next;
    }

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return finish(right && holds(input, SMALL, TURNS));
}
