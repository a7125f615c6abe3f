// expect: SC105 action=deferred kind=pinned certainty=observed
//
// A guarded destination is freed, and new pinned memory of its size used at once.
#include "touch.h"

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
    void *again = pinned_block(SMALL, WANTED);
    right = right && holds(owner, SMALL, FOREIGN) && holds(again, SMALL, WANTED);
    return finish(right);
}
