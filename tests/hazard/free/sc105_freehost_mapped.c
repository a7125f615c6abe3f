// expect: SC105 action=deferred kind=pinned certainty=observed
//
// cudaHostAlloc'ed memory, copied from by the device address that cudaHostGetDevicePointer gave.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *buffer = NULL;
    void *alias = NULL;
    CHECK(cudaHostAlloc(&buffer, SMALL, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaHostGetDevicePointer(&alias, buffer, 0));
    fill(buffer, SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, alias, SMALL, cudaMemcpyDefault, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(buffer));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
