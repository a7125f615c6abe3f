// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A string, measured before it has arrived.
#include "touch.h"

enum { LENGTH = 100 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LENGTH + 1, WANTED);
    char *target = (char *)pinned_block(LENGTH + 1, 0);
    CHECK(cudaMemset(device, 'x', LENGTH));
    CHECK(cudaMemset((char *)device + LENGTH, 0, 1));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, LENGTH + 1, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = strlen(target) == LENGTH;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
