// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph is built by hand, node by node.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    added_copy(graph, device, source, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate_only(graph);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
