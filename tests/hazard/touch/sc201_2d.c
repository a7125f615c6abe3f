// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A 2D copy, and a write into one of its rows.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, ROWS = 128 };

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, WANTED);
    void *source = pinned_block(bytes, WANTED);
    CHECK(cudaMemset2D(device, PITCH, 0, WIDTH, ROWS));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaMemcpy2DAsync(device, PITCH, source, PITCH, WIDTH, ROWS, cudaMemcpyHostToDevice,
                            stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(source, 77 * PITCH + WIDTH - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, bytes, WANTED));
}
