// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by cudaFreeHost of an unrelated buffer: it too waits for the whole device. The racy
// build registers memory, which waits for nothing.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *unrelated = pinned_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaFreeHost(unrelated));
    else
        (void)registered_block(SMALL, 0);
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
