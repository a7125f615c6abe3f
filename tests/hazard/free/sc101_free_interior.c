// expect: SC101 action=deferred kind=registered certainty=observed
//
// The copy reads 256 bytes out of the middle of the block: no address that free() is given equals
// the one that the copy was given.
#include "twin.h"

enum { PIECE = 256 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PIECE, 0);
    unsigned char *source = (unsigned char *)registered_block(SMALL, 0);
    fill(source + SMALL / 2, PIECE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source + SMALL / 2, PIECE, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, PIECE, WANTED) && holds(owner, SMALL, FOREIGN));
}
