// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A locked addition to a counter that a copy is still to write.
#include "touch.h"

#include <stdatomic.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    _Atomic uint64_t *counters = (_Atomic uint64_t *)pinned_block(SMALL, 0);
    uint64_t wanted[2];
    fill(wanted, sizeof wanted, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(counters, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    atomic_fetch_add(&counters[1], 5);

    CHECK(cudaDeviceSynchronize());
    return finish(counters[1] == wanted[1] + 5);
}
