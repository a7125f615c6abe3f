// expect: SC202 action=stalled kind=pinned certainty=observed
//
// An asynchronous copy between two host addresses, which the driver completes in the call, reads
// what another stream is still to bring.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *from = device_block(LARGE, WANTED);
    void *between = pinned_block(LARGE, FOREIGN);
    void *kept = filled_block(LARGE, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyAsync(kept, between, LARGE, cudaMemcpyHostToHost, other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(kept, LARGE, WANTED));
}
