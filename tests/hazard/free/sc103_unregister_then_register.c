// expect: SC103 kind=registered certainty=observed
//
// Unregistered in flight and registered again at once, which must succeed, as it does behind the
// driver's wait. Unregistering twice must then fail the second time.
#include "twin.h"

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
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaHostUnregister(source));
    bool refused = cudaHostUnregister(source) == cudaErrorHostMemoryNotRegistered;

    bool right = refused && device_holds(device, SMALL, WANTED);
    free(source);
    return finish(right);
}
