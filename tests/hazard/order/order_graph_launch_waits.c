// expect: SC202 action=stalled certainty=observed
//
// A copy, an event behind it, and a launch on another stream that waits for the event: once the
// launch is complete the copy is. In the racy build nothing waits for the event.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t stream = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(to, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(down);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(stream, arrived, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(to, SMALL, WANTED));
}
