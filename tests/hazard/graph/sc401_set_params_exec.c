// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The node of an exec is given another source: the first one may be freed then, the second may not.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = registered_block(SMALL, FOREIGN);
    void *second = registered_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, first, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(graph);
    replay(exec, stream);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, device, second, SMALL,
                                             cudaMemcpyHostToDevice));
    CHECK(cudaHostUnregister(first));
    free(first);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(second));
    }
    free(second);
    void *owner = filled_block(SMALL, FOREIGN);
    void *other = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN) && holds(other, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
