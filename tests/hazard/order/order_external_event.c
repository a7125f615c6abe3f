// expect: SC201 action=stalled
//
// An event is recorded behind the copy, and then, as an external one, in a capture: that makes a
// node, and until a launch the event stands for the copy. In the racy build it is recorded before
// the copy.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t captured = new_stream();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);

    if (!fixed)
        CHECK(cudaEventRecord(copied, stream));
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaEventRecord(copied, stream));
    begin_capture(captured);
    CHECK(cudaEventRecordWithFlags(copied, captured, cudaEventRecordExternal));
    cudaGraph_t graph = end_capture(captured);
    CHECK(cudaEventSynchronize(copied));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
