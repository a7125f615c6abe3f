// expect: SC203 action=stalled kind=pinned certainty=observed
//
// 64 MB that come down are not wanted any more, and the buffer is filled for its next use.
#include "touch.h"

static const size_t BATCH = (size_t)64 << 20;

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BATCH, WANTED);
    void *target = pinned_block(BATCH, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, BATCH, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(target, BATCH, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, BATCH, FOREIGN));
}
