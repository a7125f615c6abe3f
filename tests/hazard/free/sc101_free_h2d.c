// expect: SC101 action=deferred kind=registered certainty=observed origin=cuMemHostRegister*
//
// Registered heap memory is freed while a copy to the device waits to read it; the block's next
// owner fills it before the copy runs.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
