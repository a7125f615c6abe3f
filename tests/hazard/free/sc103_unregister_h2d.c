// expect: SC103 kind=registered certainty=observed
//
// Memory is unregistered while a copy waits to read it, and overwritten as soon as the call
// returns. Only the driver's undocumented wait saves the copy; whatever is done instead of that
// wait must save it too.
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
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    bool right = device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN);
    free(source);
    return finish(right);
}
