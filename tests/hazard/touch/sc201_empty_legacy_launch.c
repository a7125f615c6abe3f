// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Between the copy and work on another blocking stream a graph is launched in the legacy stream.
// One that does nothing, as the racy build has it, is no work there, and joins nothing.
#include "graphs.h"

#include "touch.h"

int main(void)
{
    cudaStream_t first = NULL;
    cudaStream_t second = NULL;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreate(&second));
    void *device = device_block(SMALL, 0);
    void *cleared = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = cleared, .elementSize = 1, .width = SMALL, .height = 1};
    if (fixed)
        CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
#ifdef ONE_EMPTY_NODE
    else
        CHECK(cudaGraphAddEmptyNode(&node, graph, NULL, 0));
#endif
    cudaGraphExec_t exec = instantiate_only(graph);

    busy(first);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaGraphLaunch(exec, cudaStreamLegacy));
    CHECK(cudaMemsetAsync(cleared, 0, SMALL, second));
    CHECK(cudaStreamSynchronize(second));
    poke(source, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
