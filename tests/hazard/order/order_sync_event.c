// expect: SC202 action=stalled certainty=observed
//
// Established by an event behind the copy that the legacy stream waits for.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(arrived, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(0, arrived, 0));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
