// expect: SC204 action=ordered kind=pinned certainty=observed
// not-by: ranges
//
// A stream brings data to a pinned buffer, the legacy stream carries it on to the device, and no
// event joins the two.
#include "twin.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = NULL; /* the legacy stream */
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(down);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
