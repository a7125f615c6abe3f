// expect: SC403 action=stalled
//
// A node behind the copy records one event in the graph, and another one in the exec. The program
// waits for that one; in the racy build for the former, which was recorded before the launch.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t former = new_event();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t copy = added_copy(graph, device, input, SMALL, cudaMemcpyHostToDevice);
    cudaGraphNode_t record = NULL;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, former));
    cudaGraphExec_t exec = instantiate(graph);
    CHECK(cudaGraphExecEventRecordNodeSetEvent(exec, record, copied));

    CHECK(cudaEventRecord(former, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(fixed ? copied : former));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
