// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// An exec's child graph node is given another child, by the call that changes any node: the former
// child's memory is free to go, and the new one's is not.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *former = filled_block(SMALL, FOREIGN);
    void *source = filled_block(SMALL, WANTED);
    cudaGraph_t first = captured_copy(device, former, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t second = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t parent = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaGraphNodeParams params;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, first));
    CHECK(cudaGraphDestroy(first));
    cudaGraphExec_t exec = instantiate(parent);
    memset(&params, 0, sizeof params);
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = second;
    CHECK(cudaGraphExecNodeSetParams(exec, node, &params));
    CHECK(cudaGraphDestroy(second));
    CHECK(cudaGraphDestroy(parent));

    free(former);
    if (!fixed)
        free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
