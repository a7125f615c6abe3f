// expect: SC201 action=stalled kind=pinned certainty=observed
//
// Counters in flight are counted on: a locked addition and a compare-and-exchange.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    uint64_t *counters = (uint64_t *)pinned_block(SMALL, WANTED);
    uint64_t before = counters[1];
    uint64_t expected = counters[2048];

    busy(stream);
    CHECK(cudaMemcpyAsync(device, counters, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = __atomic_fetch_add(&counters[1], 5, __ATOMIC_SEQ_CST) == before;
    right = __atomic_compare_exchange_n(&counters[2048], &expected, 3, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST) &&
            right;

    CHECK(cudaDeviceSynchronize());
    right = right && counters[1] == before + 5 && counters[2048] == 3;
    return finish(right && device_holds(device, SMALL, WANTED));
}
