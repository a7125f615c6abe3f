// expect: SC403 action=stalled
//
// Established by an event that a node of the graph records, behind the copy's. In the racy build
// that node depends on nothing.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t record = NULL;
    cudaGraphNode_t copy = NULL;
    if (!fixed)
        CHECK(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, copied));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, device, input, SMALL,
                                   cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, copied));
    cudaGraphExec_t exec = instantiate_only(graph);

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(copied));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
