// expect: SC204 action=ordered kind=pinned certainty=observed
//
// The two ranges share only their middle: neither start nor size is equal.
#include "twin.h"

int main(void)
{
    const size_t half = SMALL / 2;
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(half, WANTED);
    void *to = device_block(half / 2, 0);
    unsigned char *buffer = (unsigned char *)pinned_block(SMALL, FOREIGN);

    busy(down);
    CHECK(cudaMemcpyAsync(buffer + half / 2, from, half, cudaMemcpyDeviceToHost, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, buffer + half / 2, half / 2, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, half / 2, WANTED));
}
