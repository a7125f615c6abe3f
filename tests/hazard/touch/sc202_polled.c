// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The host spins on the destination's last word, as if the words arrived in order.
#include "touch.h"

int main(void)
{
    const size_t last = SMALL / 8 - 1;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    uint64_t *target = (uint64_t *)pinned_block(SMALL, 0);
    target[last] = 0;

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    while (((volatile uint64_t *)target)[last] == 0)
        usleep(100);
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
