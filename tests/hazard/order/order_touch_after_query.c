// expect: SC203 action=stalled kind=pinned certainty=observed
//
// Queries until the event behind the copy is complete. The racy build asks once and goes on.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(arrived, stream));
    cudaError_t answer = cudaEventQuery(arrived);
    while (fixed && answer == cudaErrorNotReady) {
        usleep(500);
        answer = cudaEventQuery(arrived);
    }
    fill(target, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}
