// expect: SC104 kind=registered certainty=observed
// needs: small-pages
//
// Only the middle of the range is unmapped; the rest stays in use and keeps its bytes.
#include "mapping.h"

int main(void)
{
    const size_t quarter = SMALL / 4;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = (unsigned char *)registered_pages(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if (munmap(source + quarter, 2 * quarter) != 0)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(source, quarter, WANTED));
}
