// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A stream comes after a launch of which no call tells that its host node has run, and the host
// waits for the event behind the launch. What a copy brings behind that is read too early.
#include "touch.h"
#include "unseen.h"

int main(void)
{
    cudaStream_t launcher = new_stream();
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, FOREIGN);

    CHECK(cudaEventSynchronize(launch_unseen(launcher, stream)));
    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, 5);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
