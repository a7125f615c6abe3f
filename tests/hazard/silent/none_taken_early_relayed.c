// expect: none
// options: device=1
// summary: taken_early=1
//
// A copy in the legacy stream comes after one in a blocking stream, which has waited for the event
// of a third stream, where the source is filled. The program has issued nothing but copies.
#include "early.h"

int main(void)
{
    cudaStream_t filling = new_stream();
    cudaStream_t between = blocking_stream();
    cudaEvent_t filled = new_event();
    void *image = device_block(32 * LARGE, WANTED);
    void *large = pinned_block(32 * LARGE, 0);
    void *device = device_block(EARLY, 0);
    void *other = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);

    CHECK(cudaMemcpyAsync(large, image, 32 * LARGE, cudaMemcpyDeviceToHost, filling));
    CHECK(cudaMemcpyAsync(source, image, EARLY, cudaMemcpyDeviceToHost, filling));
    CHECK(cudaEventRecord(filled, filling));
    CHECK(cudaStreamWaitEvent(between, filled, 0));
    CHECK(cudaMemcpyAsync(other, image, EARLY, cudaMemcpyDeviceToDevice, between));
    CHECK(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, cudaStreamLegacy));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, EARLY, WANTED));
}
