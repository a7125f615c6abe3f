// expect: SC201 action=stalled kind=pinned certainty=observed
//
// An exec is launched behind the copy, and then elsewhere. Launches without nodes, as the racy
// build has them, do not wait for one another, and so the second says nothing of the copy.
#include "graphs.h"

#include "touch.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *device = device_block(SMALL, 0);
    void *cleared = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = cleared, .elementSize = 1, .width = SMALL, .height = 1};
    if (fixed)
        CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    cudaGraphExec_t exec = instantiate_only(graph);

    busy(first);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaGraphLaunch(exec, second));
    CHECK(cudaStreamSynchronize(second));
    poke(source, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
