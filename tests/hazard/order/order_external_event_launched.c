// expect: SC201 action=stalled
//
// A captured graph waits for an external event behind the copy and records another, for which the
// program waits. In the racy build the first one is recorded before the copy.
#include "graphs.h"

int main(void)
{
    cudaStream_t copies = new_stream();
    cudaStream_t stream = new_stream();
    cudaEvent_t copied = new_event();
    cudaEvent_t launched = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    begin_capture(stream);
    CHECK(cudaStreamWaitEvent(stream, copied, cudaEventWaitExternal));
    CHECK(cudaEventRecordWithFlags(launched, stream, cudaEventRecordExternal));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    if (!fixed)
        CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, copies));
    if (fixed)
        CHECK(cudaEventRecord(copied, copies));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(launched));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
