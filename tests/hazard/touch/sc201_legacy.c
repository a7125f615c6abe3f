// expect: SC201 action=stalled kind=pinned certainty=observed
// not-by: ranges
//
// The legacy default stream.
#include "touch.h"

int main(void)
{
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    busy(0);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    poke(source, 100);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
