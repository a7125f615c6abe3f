// expect: none
//
// An exec takes its inputs from a second graph, by an update, and then one of them from a call that
// names the first graph's node. What the second graph had there is freed: nothing reads it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaGraphExecUpdateResultInfo result;
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *first[2] = {registered_block(SMALL, 1), registered_block(SMALL, 2)};
    void *second[2] = {registered_block(SMALL, 3), registered_block(SMALL, 4)};
    void *third = registered_block(SMALL, 5);
    cudaGraph_t graphs[2] = {empty_graph(), empty_graph()};
    cudaGraphNode_t nodes[2];

    for (int i = 0; i < 2; i++) {
        nodes[i] = added_copy(graphs[0], devices[i], first[i], SMALL, cudaMemcpyHostToDevice);
        added_copy(graphs[1], devices[i], second[i], SMALL, cudaMemcpyHostToDevice);
    }
    cudaGraphExec_t exec = instantiate(graphs[0]);
    CHECK(cudaGraphExecUpdate(exec, graphs[1], &result));
    CHECK(cudaGraphDestroy(graphs[1]));
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, nodes[1], devices[1], third, SMALL,
                                             cudaMemcpyHostToDevice));
    CHECK(cudaHostUnregister(second[1]));
    free(second[1]);
    replay(exec, stream);
    bool right = device_holds(devices[0], SMALL, 3) && device_holds(devices[1], SMALL, 5);

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graphs[0]));
    return finish(right);
}
