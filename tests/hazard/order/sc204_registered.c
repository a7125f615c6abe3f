// expect: SC204 action=ordered kind=registered certainty=observed
// not-by: ranges
//
// The same on registered heap memory, with the legacy stream on one side: a non-blocking stream
// does not wait for it.
#include "twin.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = registered_block(SMALL, FOREIGN);

    busy(cudaStreamLegacy);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, cudaStreamLegacy));
    CHECK(cudaEventRecord(arrived, cudaStreamLegacy));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
