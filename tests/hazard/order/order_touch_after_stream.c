// expect: SC201 action=stalled kind=pinned certainty=observed
// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Both buffers may be touched behind a synchronise of their stream. In the racy build it stands in
// front of the copies.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, WANTED);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    if (!fixed)
        CHECK(cudaStreamSynchronize(stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));
    busy(stream);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(to, SMALL, WANTED));
}
