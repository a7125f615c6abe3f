// expect: SC101 action=deferred kind=registered certainty=observed
// sim: devices=2
// needs: multi-gpu
//
// The copy goes to device 1, and cudaDeviceSynchronize waits for device 0, the current one.
#include "twin.h"

int main(void)
{
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    int last = devices - 1; /* with one device the fixed build is all that can be shown */
    if (last == 0 && !fixed)
        return finish(true);
    CHECK(cudaSetDevice(0)); /* makes its context, which takes longer than the copy */
    CHECK(cudaSetDevice(last));
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);
    CHECK(cudaHostRegister(source, SMALL, cudaHostRegisterPortable));

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaSetDevice(fixed ? last : 0));
    CHECK(cudaDeviceSynchronize());
    if (fixed)
        CHECK(cudaHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaSetDevice(last));
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
