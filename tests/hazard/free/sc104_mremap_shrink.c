// expect: SC104 kind=registered certainty=observed
// needs: small-pages
//
// mremap() to half the size gives the other half back while the copy still reads it.
#include "mapping.h"

int main(void)
{
    const size_t half = SMALL / 2;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = (unsigned char *)registered_pages(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if (mremap(source, SMALL, half, 0) != source)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, half, WANTED));
}
