// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Two copies whose sources overlap, both in flight: a write into what they share waits for both.
#include "touch.h"

int main(void)
{
    const size_t half = SMALL / 2;
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *one = device_block(SMALL, 0);
    char *two = (char *)device_block(SMALL, WANTED);
    char *source = (char *)pinned_block(SMALL, WANTED);
    CHECK(cudaMemset(two + half, 0, half));
    CHECK(cudaDeviceSynchronize());

    busy(first);
    busy(second);
    CHECK(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(two + half, source + half, half, cudaMemcpyHostToDevice, second));
    if (fixed) {
        CHECK(cudaStreamSynchronize(first));
        CHECK(cudaStreamSynchronize(second));
    }
    poke(source, half + 1);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, WANTED));
}
