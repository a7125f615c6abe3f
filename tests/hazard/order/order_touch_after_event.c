// expect: SC202 action=stalled kind=pinned certainty=observed
//
// An event behind the copy, on a stream that waits for the copy's. In the racy build it does not.
#include "touch.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t arrived = new_event();
    cudaEvent_t all = new_event();
    void *from = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(down);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(other, arrived, 0));
    CHECK(cudaEventRecord(all, other));
    CHECK(cudaEventSynchronize(all));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
