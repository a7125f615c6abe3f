// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured node is given another source; the graph becomes part of a clone of a parent, and goes.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = filled_block(SMALL, FOREIGN);
    void *second = filled_block(SMALL, WANTED);
    cudaGraph_t graph = captured_copy(device, first, SMALL, cudaMemcpyHostToDevice, stream);
    cudaGraphNode_t node = only_node(graph);
    CHECK(cudaGraphMemcpyNodeSetParams1D(node, device, second, SMALL, cudaMemcpyHostToDevice));
    cudaGraph_t parent = empty_graph();
    cudaGraph_t clone = NULL;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphClone(&clone, parent));
    CHECK(cudaGraphDestroy(parent));

    cudaGraphExec_t exec = NULL;
    if (fixed) {
        exec = instantiate(clone);
        replay(exec, stream);
    }
    free(second);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed) {
        exec = instantiate(clone);
        replay(exec, stream);
    }
    return finish(holds(owner, SMALL, FOREIGN) && device_holds(device, SMALL, WANTED));
}
