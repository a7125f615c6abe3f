// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph's node is given another source, and the first one is freed. The exec was made before
// and still reads the first.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = filled_block(SMALL, WANTED);
    void *second = filled_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, first, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphMemcpyNodeSetParams1D(node, device, second, SMALL, cudaMemcpyHostToDevice));
    if (fixed)
        exec = instantiate(graph);

    free(first);
    void *owner = filled_block(SMALL, FOREIGN);
    replay(exec, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
