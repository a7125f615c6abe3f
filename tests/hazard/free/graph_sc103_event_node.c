// expect: SC103 certainty=observed
//
// A download stands before a node that records an event. The racy build unregisters the memory
// without having asked for that event.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t arrived = new_event();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t copy = added_copy(graph, target, device, SMALL, cudaMemcpyDeviceToHost);
    cudaGraphNode_t record = NULL;
    CHECK(cudaGraphAddEventRecordNode(&record, graph, &copy, 1, arrived));
    cudaGraphExec_t exec = instantiate_only(graph);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    while (fixed && cudaEventQuery(arrived) == cudaErrorNotReady)
        usleep(500);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaHostUnregister(target));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
