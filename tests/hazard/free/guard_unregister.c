// expect: SC103 kind=registered certainty=observed
//
// A guarded source is unregistered: from then on its pages are ordinary ones.
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
    CHECK(cudaHostUnregister(source));
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    bool right = holds(source, SMALL, FOREIGN);
    free(source);
    return finish(right && device_holds(device, SMALL, WANTED));
}
