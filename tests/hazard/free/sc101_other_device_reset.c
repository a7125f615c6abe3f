// expect: SC101 action=deferred kind=registered
// sim: devices=4
// needs: multi-gpu
//
// A reset of device 1 ends its work, and not that of device 0, which still reads what is freed. (On
// two H200 the reset waited for a host function of device 0: the hazard is latent there.)
#include "peers.h"

int main(void)
{
    const int other = second_device();
    cudaStream_t there = stream_of(other);
    cudaStream_t here = stream_of(0);
    void *others = block_of(other, SMALL, 0);
    void *device = block_of(0, SMALL, 0);
    void *source = separate_block(SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterPortable));

    CHECK(cudaSetDevice(0));
    busy(here);
    CHECK(cudaSetDevice(other));
    CHECK(cudaMemsetAsync(others, 0, SMALL, there));
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, here));
    if (other != 0) {
        CHECK(cudaSetDevice(other));
        CHECK(cudaDeviceReset());
    }
    CHECK(cudaSetDevice(0));
    if (fixed) {
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = separate_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
