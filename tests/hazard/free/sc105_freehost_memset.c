// expect: SC105 action=deferred kind=pinned certainty=observed
//
// A memset by the device on pinned host memory is in flight when the memory is freed.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemsetAsync(target, 0x5a, SMALL, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(target));

    void *owner = pinned_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
