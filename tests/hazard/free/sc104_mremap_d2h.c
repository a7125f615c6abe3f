// expect: SC104 kind=registered certainty=observed
//
// The target of an unfinished copy is moved. Where it moved to must hold what the copy brings once
// the device is idle.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_pages(SMALL, 0);
    void *place = mapped_pages(NULL, SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    void *moved = mremap(target, SMALL, SMALL, MREMAP_MAYMOVE | MREMAP_FIXED, place);
    if (moved != place)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(holds(moved, SMALL, WANTED));
}
