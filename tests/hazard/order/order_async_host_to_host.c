// expect: SC202 action=stalled kind=pinned certainty=observed
//
// An asynchronous copy between two host addresses comes after what is before it on its stream. The
// racy build makes it on another.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *between = pinned_block(SMALL, FOREIGN);
    void *kept = filled_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(kept, between, SMALL, cudaMemcpyHostToHost, fixed ? stream : other));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(kept, SMALL, WANTED));
}
