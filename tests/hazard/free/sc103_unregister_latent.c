// expect: SC103 kind=registered certainty=latent
// sim: late=0
//
// The copy is complete by the time of the unregister; nothing established that.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    sleep_patiently(DONE_US);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(source));

    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED);
    free(source);
    return finish(right);
}
