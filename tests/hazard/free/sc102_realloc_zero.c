// expect: SC102 action=deferred kind=registered certainty=observed event=reallocarray
//
// reallocarray() to no elements frees a destination in flight, and the copy would write over the
// next owner of its place.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, FOREIGN);
    void *fence = filled_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    if (reallocarray(target, 0, 8))
        return 3;

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN) && holds(fence, SMALL, FOREIGN));
}
