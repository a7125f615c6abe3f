// expect: SC201 action=snapshotted kind=registered
//
// A flag of one byte, taken back while its copy is in flight.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(1, 0);
    char *block = (char *)registered_block(SMALL, WANTED);
    size_t offset = 5000;
    block[offset] = (char)pattern(WANTED, 0);

    CHECK(cudaMemcpyAsync(device, block + offset, 1, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(block + offset, 0);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(device, 1, WANTED));
}
