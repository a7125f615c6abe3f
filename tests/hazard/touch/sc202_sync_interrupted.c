// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A synchronous copy reads what is still to come, and is made to wait for it. A signal that comes
// to its thread meanwhile is taken at once.
#include "interrupted.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(LARGE, WANTED);
    void *between = pinned_block(LARGE, FOREIGN);
    void *kept = filled_block(LARGE, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, LARGE, cudaMemcpyDeviceToHost, stream));
    expect_interruption(stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(kept, between, LARGE, cudaMemcpyHostToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(was_interrupted() && holds(kept, LARGE, WANTED));
}
