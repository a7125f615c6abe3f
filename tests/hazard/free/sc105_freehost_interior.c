// expect: SC105 action=deferred kind=pinned certainty=observed
//
// The copy uses the last 256 bytes of a pinned buffer, which is freed by its start.
#include "twin.h"

enum { PIECE = 256 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(PIECE, 0);
    unsigned char *buffer = (unsigned char *)pinned_block(SMALL, 0);
    unsigned char *tail = buffer + SMALL - PIECE;
    fill(tail, PIECE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, tail, PIECE, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(buffer));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, PIECE, WANTED));
}
