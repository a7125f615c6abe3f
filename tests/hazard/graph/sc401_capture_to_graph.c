// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A copy is captured into a graph that the program made, behind a node that it added.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    void *first = pinned_block(SMALL, FOREIGN);
    cudaGraph_t graph = empty_graph();
    cudaGraph_t same = NULL;
    cudaGraphNode_t node = added_copy(graph, device, first, SMALL, cudaMemcpyHostToDevice);
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, &node, NULL, 1,
                                        cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamEndCapture(stream, &same));
    cudaGraphExec_t exec = instantiate_only(graph);

    if (fixed)
        replay(exec, stream);
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaFreeHost(first));
    bool right = same == graph && holds(owner, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
