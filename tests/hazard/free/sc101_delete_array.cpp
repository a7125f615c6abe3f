// expect: SC101 action=deferred kind=registered certainty=observed
//
// delete[] of a registered array: the C++ library's call of free() is the one that counts.
#include "twin.h"

int main()
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = new unsigned char[SMALL];
    fill(source, SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    delete[] source;

    unsigned char *owner = new unsigned char[SMALL];
    fill(owner, SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
