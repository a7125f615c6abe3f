// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A synchronous copy from host memory to host memory reads what is still to come.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(LARGE, WANTED);
    void *between = pinned_block(LARGE, FOREIGN);
    void *kept = filled_block(LARGE, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(kept, between, LARGE, cudaMemcpyHostToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(kept, LARGE, WANTED));
}
