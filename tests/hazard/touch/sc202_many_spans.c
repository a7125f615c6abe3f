// expect: SC202 kind=pinned
//
// Five thousand results in flight, none beside another, and a read in the last one. Each is guarded
// by itself: no number of them is too many. (The queue of a real driver is full before the last
// one.)
#include "touch.h"

enum { RESULTS = 5000, BYTES = 4 << 10, APART = 2 * BYTES };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    char *targets = pinned_block((size_t)RESULTS * APART, 0);
    char *last = targets + (size_t)(RESULTS - 1) * APART;

    busy(stream);
    for (char *target = targets; target <= last; target += APART)
        CHECK(cudaMemcpyAsync(target, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(last, BYTES - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
