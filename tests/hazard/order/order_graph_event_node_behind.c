// expect: SC201 action=stalled
//
// Established by an event that a node of a graph records, which is launched behind the copy. In the
// racy build it is launched before it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t former = new_event();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t record = NULL;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, former));
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, copied));

    if (!fixed)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(copied));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
