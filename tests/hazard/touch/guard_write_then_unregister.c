// expect: SC201 kind=registered certainty=observed
// expect: SC103 kind=registered
// needs: small-pages
//
// A source is written too early and unregistered, neither of which anything was waited for.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, 4096);
    CHECK(cudaHostUnregister(source));
    fill(source, SMALL, FOREIGN);
    free(source);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
