// expect: SC105 action=deferred kind=pinned certainty=observed
//
// A 2D copy out of pinned memory that is freed under it.
#include "twin.h"

enum { WIDTH = 256 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(device, WIDTH, source, WIDTH, WIDTH, SMALL / WIDTH,
                            cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(source));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
