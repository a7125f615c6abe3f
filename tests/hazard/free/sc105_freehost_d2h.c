// expect: SC105 action=deferred certainty=observed origin=cuMem* stream-origin=cuStreamCreate*
//
// cudaFreeHost of the target of an unfinished copy; the next pinned buffer must keep its bytes.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(target));

    void *owner = pinned_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
