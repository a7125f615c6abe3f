// expect: SC201 action=stalled kind=pinned
//
// Two streams send one source, and the program waits for the wrong one of them, or for both.
#include "touch.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *one = device_block(SMALL, 0);
    void *two = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    busy(first);
    CHECK(cudaMemcpyAsync(one, source, SMALL, cudaMemcpyHostToDevice, first));
    CHECK(cudaMemcpyAsync(two, source, SMALL, cudaMemcpyHostToDevice, second));
    CHECK(cudaStreamSynchronize(second));
    if (fixed)
        CHECK(cudaStreamSynchronize(first));
    poke(source, 4096);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(one, SMALL, WANTED) && device_holds(two, SMALL, WANTED));
}
