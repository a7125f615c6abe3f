// expect: SC203 action=stalled certainty=observed
//
// A memset node is still to clear the pinned counters that the program sets.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *counters = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = counters, .value = 0, .elementSize = 4, .width = SMALL / 4, .height = 1};
    CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    cudaGraphExec_t exec = instantiate_only(graph);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(counters, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(counters, SMALL, FOREIGN));
}
