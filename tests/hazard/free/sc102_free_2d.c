// expect: SC102 action=deferred kind=registered certainty=observed
//
// A 2D copy from the device lands in every other 512 bytes of a block that has been freed.
#include "twin.h"

enum { WIDTH = 512, PITCH = 1024 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(target, PITCH, device, PITCH, WIDTH, SMALL / PITCH,
                            cudaMemcpyDeviceToHost, stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(target));
    }
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
