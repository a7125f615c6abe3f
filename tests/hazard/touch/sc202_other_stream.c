// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The program waits, for another stream than the one that fetches.
#include "touch.h"

int main(void)
{
    cudaStream_t compute = new_stream();
    cudaStream_t fetch = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(fetch);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, fetch));
    CHECK(cudaStreamSynchronize(fixed ? fetch : compute));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
