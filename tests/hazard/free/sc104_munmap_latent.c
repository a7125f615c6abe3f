// expect: SC104 kind=registered certainty=latent
// sim: late=0
//
// The copy is complete by the time of the munmap; nothing established that.
#include "mapping.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_pages(SMALL, WANTED);

    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    sleep_patiently(DONE_US);
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    if (munmap(source, SMALL) != 0)
        return 3;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
