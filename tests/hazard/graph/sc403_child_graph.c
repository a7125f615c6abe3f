// expect: SC403 action=stalled certainty=observed
//
// The input is that of a child graph.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t parent = empty_graph();
    cudaGraphNode_t node = NULL;
    cudaGraph_t child = captured_copy(device, input, SMALL, cudaMemcpyHostToDevice, stream);
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(cudaGraphDestroy(child));
    cudaGraphExec_t exec = instantiate_only(parent);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
