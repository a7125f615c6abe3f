// expect: SC403 action=stalled
//
// Established by another stream, which waits for an event that a node behind the copy records, and
// for which the program waits. In the racy build it waits for the event of a node before the copy.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t begun = new_event();
    cudaEvent_t copied = new_event();
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *first = pinned_block(SMALL, WANTED);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(devices[0], first, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecordWithFlags(begun, stream, cudaEventRecordExternal));
    CHECK(cudaMemcpyAsync(devices[1], input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecordWithFlags(copied, stream, cudaEventRecordExternal));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamWaitEvent(other, fixed ? copied : begun, 0));
    CHECK(cudaStreamSynchronize(other));
    fill(first, SMALL, FOREIGN);
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(devices[0], SMALL, WANTED) &&
                  device_holds(devices[1], SMALL, WANTED));
}
