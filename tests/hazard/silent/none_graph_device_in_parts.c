// expect: none
// options: device=1
//
// A node of a graph records an event behind the clearing of a buffer, and a host node behind that
// holds up the rest of the launch. Another stream waits for the event and fills the buffer
// meanwhile.
#include "graphs.h"

int main(void)
{
    cudaStream_t work = new_stream(), up = new_stream();
    cudaEvent_t cleared = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *buffer = device_block(SMALL, FOREIGN), *other = device_block(SMALL, FOREIGN);
    begin_capture(work);
    CHECK(cudaMemsetAsync(buffer, 0, SMALL, work));
    CHECK(cudaEventRecordWithFlags(cleared, work, cudaEventRecordExternal));
    busy(work);
    CHECK(cudaMemcpyAsync(other, source, SMALL, cudaMemcpyHostToDevice, work));
    cudaGraphExec_t exec = instantiate_only(end_capture(work));

    CHECK(cudaGraphLaunch(exec, work));
    CHECK(cudaStreamWaitEvent(up, cleared, 0));
    CHECK(cudaMemcpyAsync(buffer, source, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(buffer, SMALL, WANTED) && device_holds(other, SMALL, WANTED));
}
