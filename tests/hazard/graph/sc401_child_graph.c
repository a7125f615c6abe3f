// expect: SC401 action=held certainty=observed event=cuGraphLaunch origin=cuMem*Host*
//
// The copy belongs to a graph that is a node of the one that is launched.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraph_t child = captured_copy(device, source, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraph_t parent = empty_graph();
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(cudaGraphDestroy(child));
    cudaGraphExec_t exec = instantiate_only(parent);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
