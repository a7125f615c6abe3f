// expect: SC104 kind=registered certainty=observed
//
// mremap() moves the pages elsewhere and other pages take their address. The moved ones hold what
// they held, and the copy reads what it was given.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);
    void *place = mapped_pages(NULL, SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *moved = mremap(source, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (moved != place)
        return 3;

    void *owner = mapped_pages(NULL, SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(moved, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
