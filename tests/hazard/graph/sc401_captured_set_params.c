// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured node is given another source, of which the driver alone knows that it is the graph's.
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
    free(first);

    cudaGraphExec_t exec = NULL;
    if (fixed) {
        exec = instantiate(graph);
        replay(exec, stream);
    }
    free(second);
    void *owner = filled_block(SMALL, FOREIGN);
    void *other = filled_block(SMALL, FOREIGN);
    if (!fixed) {
        exec = instantiate(graph);
        replay(exec, stream);
    }

    bool right = holds(owner, SMALL, FOREIGN) && holds(other, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
