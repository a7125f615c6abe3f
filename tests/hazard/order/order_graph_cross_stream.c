// expect: SC202 action=stalled certainty=observed
//
// Established by synchronising a stream that waits for an event behind the launch. In the racy
// build it does not wait.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t arrived = new_event();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(arrived, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, arrived, 0));
    CHECK(cudaStreamSynchronize(other));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
