// expect: SC202 action=stalled certainty=observed
//
// Established by way of a blocking stream, which waits for an event behind the copy, and which the
// legacy stream comes after.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t waiting = blocking_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(arrived, stream));
    if (fixed)
        CHECK(cudaStreamWaitEvent(waiting, arrived, 0));
    CHECK(cudaMemsetAsync(to, 0, SMALL, waiting));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
