// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The copy is added to a child graph by that graph's own handle, and its source is freed before
// there is an exec.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    cudaGraph_t child = empty_graph();
    cudaGraph_t own = NULL;
    cudaGraph_t parent = empty_graph();
    cudaGraph_t clone = NULL;
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &own));
    added_copy(own, device, source, SMALL, cudaMemcpyHostToDevice);
    CHECK(cudaGraphClone(&clone, parent));
    CHECK(cudaGraphDestroy(parent));

    if (!fixed)
        free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = instantiate_only(clone);
    replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
