// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
//
// A stream comes after a launch of which no call tells that its host node has run, and the host
// waits for the launch. What a third stream clears is then read there in no order.
#include "unseen.h"

int main(void)
{
    cudaStream_t launcher = new_stream();
    cudaStream_t reader = new_stream();
    cudaStream_t writer = new_stream();
    cudaEvent_t set = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *device = device_block(SMALL, FOREIGN);

    launch_unseen(launcher, reader);
    CHECK(cudaStreamSynchronize(launcher));
    busy(writer);
    CHECK(cudaMemsetAsync(device, 0, SMALL, writer));
    CHECK(cudaEventRecord(set, writer));
    if (fixed)
        CHECK(cudaStreamWaitEvent(reader, set, 0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, reader));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
