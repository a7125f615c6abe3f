// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A memset node clears pinned host memory, which has been given back and handed out again.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *target = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = NULL;
    struct cudaMemsetParams params = {
        .dst = target, .value = 0x5a, .elementSize = 1, .width = SMALL, .height = 1};
    CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &params));
    cudaGraphExec_t exec = instantiate_only(graph);

    if (fixed)
        replay(exec, stream);
    CHECK(cudaFreeHost(target));
    void *owner = pinned_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
