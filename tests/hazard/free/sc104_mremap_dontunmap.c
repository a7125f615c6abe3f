// expect: SC104 action=stalled kind=registered certainty=observed event=mremap
//
// MREMAP_DONTUNMAP takes the pages away and leaves an empty mapping where they were.
#include "mapping.h"

#include <errno.h>

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    void *moved = mremap(source, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    bool right = moved != MAP_FAILED
                     ? holds(moved, SMALL, WANTED) && *(volatile unsigned char *)source == 0
                     : errno == EINVAL; /* before Linux 5.7 */

    CHECK(cudaDeviceSynchronize());
    return finish(right && device_holds(device, SMALL, WANTED));
}
