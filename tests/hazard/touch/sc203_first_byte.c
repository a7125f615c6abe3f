// expect: SC203 action=stalled kind=registered certainty=observed
//
// The first byte of a destination is written while its copy waits for its turn, which then writes
// over it.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_page_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(target, 0);

    CHECK(cudaDeviceSynchronize());
    return finish(holds_poked(target, SMALL, 0));
}
