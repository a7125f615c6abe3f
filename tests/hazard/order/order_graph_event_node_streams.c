// expect: SC204 action=ordered
//
// Two streams are ordered by an event that a node of a graph records, which is launched behind the
// first copy. In the racy build it is launched before it.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *buffer = pinned_block(SMALL, 0);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t record = NULL;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, NULL, 0, arrived));
    cudaGraphExec_t exec = instantiate_only(graph);

    if (!fixed)
        CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaMemcpyAsync(buffer, from, SMALL, cudaMemcpyDeviceToHost, down));
    if (fixed)
        CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, buffer, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
