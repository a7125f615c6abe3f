// expect: SC101 action=deferred kind=registered certainty=observed
//
// A 2D copy reads every other 512 bytes of the block that is freed under it.
#include "twin.h"

enum { WIDTH = 512, PITCH = 1024 };

int main(void)
{
    const size_t height = SMALL / PITCH;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *source = registered_block(SMALL, WANTED);
    CHECK(cudaMemset2D(device, PITCH, 0, WIDTH, height));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaMemcpy2DAsync(device, PITCH, source, PITCH, WIDTH, height, cudaMemcpyHostToDevice,
                            stream));
    if (fixed) {
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
