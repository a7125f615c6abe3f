// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The child graph is added by the call that adds any node. It is all that names the memory when
// that is freed, before there is an exec.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraph_t child = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t parent = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaGraphNodeParams params;
    memset(&params, 0, sizeof params);
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = child;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddNode(&node, parent, NULL, NULL, 0, &params));
#else
    CHECK(cudaGraphAddNode(&node, parent, NULL, 0, &params));
#endif
    CHECK(cudaGraphDestroy(child));

    if (!fixed)
        free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = instantiate_only(parent);
    replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
