// expect: SC104 kind=registered certainty=observed
//
// Unmapped in flight, and the same address mapped again at once: what was put off must be settled
// before the new pages come, and never take them away.
#include "mapping.h"

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
    if (munmap(source, SMALL) != 0)
        return 3;
    void *owner = mapped_pages(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    sleep_patiently(BUSY_US);
    bool right = owner == source && device_holds(device, SMALL, WANTED);
    return finish(right && holds(owner, SMALL, FOREIGN));
}
