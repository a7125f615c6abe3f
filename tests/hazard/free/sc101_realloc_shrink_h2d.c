// expect: SC101 kind=registered certainty=observed
//
// realloc() to a quarter of the size: the block stays where it is, but the rest of it is free
// memory again, which the copy still reads.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *shrunk = realloc(source, SMALL / 4);
    if (!shrunk)
        return 3;

    void *owner = filled_block(SMALL / 2, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(shrunk, SMALL / 4, WANTED);
    return finish(right && holds(owner, SMALL / 2, FOREIGN));
}
