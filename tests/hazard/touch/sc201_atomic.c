// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Counters in flight are counted on: a locked addition and a compare-and-exchange.
#include "touch.h"

#include <stdatomic.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    _Atomic uint64_t *counters = (_Atomic uint64_t *)pinned_block(SMALL, WANTED);
    uint64_t before = counters[1];
    uint64_t expected = counters[2048];

    busy(stream);
    CHECK(cudaMemcpyAsync(device, counters, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = atomic_fetch_add(&counters[1], 5) == before;
    right = atomic_compare_exchange_strong(&counters[2048], &expected, 3) && right;

    CHECK(cudaDeviceSynchronize());
    right = right && counters[1] == before + 5 && counters[2048] == 3;
    return finish(right && device_holds(device, SMALL, WANTED));
}
