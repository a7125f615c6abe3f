// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The first byte of a destination is read while its copy waits for its turn.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(target, SMALL, WANTED));
}
