// expect: SC204 action=ordered kind=pinned certainty=observed
//
// A download is issued behind a launch of which no call tells that its host node has run. The host
// waits for the launch, and then an upload of the same memory is issued in no order with the
// download.
#include "unseen.h"

int main(void)
{
    cudaStream_t launcher = new_stream();
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    launch_unseen(launcher, down);
    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    CHECK(cudaStreamSynchronize(launcher));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
