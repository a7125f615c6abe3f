// expect: SC403 action=stalled certainty=observed
//
// The copy stands before a node that records an event, and is in flight until the host has heard of
// that event. The racy build does not ask for it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecordWithFlags(copied, stream, cudaEventRecordExternal));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaEventSynchronize(copied));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
