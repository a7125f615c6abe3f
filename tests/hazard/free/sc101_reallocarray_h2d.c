// expect: SC101 action=deferred kind=registered certainty=observed
//
// reallocarray() is realloc() under another name, and does not pass through its symbol.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    void *fence = filled_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *moved = reallocarray(source, 3, SMALL / 2);
    if (!moved)
        return 3;

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(moved, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN) && holds(fence, SMALL, FOREIGN));
}
