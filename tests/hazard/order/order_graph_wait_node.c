// expect: SC201 action=stalled
//
// A graph is launched of which a node waits for an event behind the copy: who has waited for the
// launch has waited for the copy. In the racy build the event is recorded before it.
#include "graphs.h"

int main(void)
{
    cudaStream_t copies = new_stream();
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraph_t child = empty_graph();
    cudaGraphNode_t wait = NULL;
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddEventWaitNode(&wait, child, NULL, 0, copied));
    CHECK(cudaGraphAddChildGraphNode(&node, graph, NULL, 0, child));
    cudaGraphExec_t exec = instantiate_only(graph);

    if (!fixed)
        CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, copies));
    if (fixed)
        CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
