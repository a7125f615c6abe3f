// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A node is given another source before the graph is instantiated: the first one may be freed then,
// the second may not.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = filled_block(SMALL, FOREIGN);
    void *second = filled_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, first, SMALL, cudaMemcpyHostToDevice);
    CHECK(cudaGraphMemcpyNodeSetParams1D(node, device, second, SMALL, cudaMemcpyHostToDevice));
    free(first);
    cudaGraphExec_t exec = instantiate(graph);

    if (fixed)
        replay(exec, stream);
    free(second);
    void *owner = filled_block(SMALL, FOREIGN);
    void *other = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN) && holds(other, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
