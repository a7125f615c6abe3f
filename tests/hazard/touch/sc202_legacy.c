// expect: SC202 action=stalled kind=pinned certainty=observed
// not-by: ranges
//
// The legacy default stream: the copy is asynchronous there as well, into pinned memory.
#include "touch.h"

int main(void)
{
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(0);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    bool right = peek(target, SMALL / 2);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
