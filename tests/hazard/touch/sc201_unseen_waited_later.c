// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A copy is issued behind a launch of which no call tells that its host node has run. The host
// waits for the launch, and then overwrites the source too early.
#include "touch.h"
#include "unseen.h"

int main(void)
{
    cudaStream_t launcher = new_stream();
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    launch_unseen(launcher, stream);
    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(launcher));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, 5);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
