// expect: SC403 action=stalled certainty=observed
//
// The node was added by hand, and later pointed at another input.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *first = pinned_block(SMALL, FOREIGN);
    void *second = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, first, SMALL, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, device, second, SMALL,
                                             cudaMemcpyHostToDevice));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    fill(first, SMALL, 0); /* which the launch does not read any more */
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(second, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(second, SMALL, FOREIGN));
}
