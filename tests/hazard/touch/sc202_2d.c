// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A 2D copy, and a read in one of its rows.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, ROWS = 128 };

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, WANTED);
    void *target = pinned_block(bytes, 0);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(target, PITCH, device, PITCH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, 77 * PITCH + WIDTH - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
