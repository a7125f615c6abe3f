// expect: none
//
// A copy out of managed memory, and behind it on its stream a graph that sets that memory once an
// event has occurred. Nothing is judged behind a node that waits; what it writes is the device's
// all the same, and no overwritten source.
#include "graphs.h"
#include "managed.h"

enum { BYTES = 128 << 10 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = managed_block(BYTES, WANTED);
    void *target = device_block(BYTES, 0);
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t wait;
    cudaGraphNode_t set;
    struct cudaMemsetParams zero = {.dst = source, .elementSize = 1, .width = BYTES, .height = 1};
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(event, new_stream()));
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
    CHECK(cudaGraphAddMemsetNode(&set, graph, &wait, 1, &zero));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));

    CHECK(cudaMemcpyAsync(target, source, BYTES, cudaMemcpyDefault, stream));
    CHECK(cudaGraphLaunch(exec, stream));

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(target, BYTES, WANTED) && ((char *)source)[BYTES - 1] == 0);
}
