// expect: SC203 action=stalled kind=pinned certainty=observed
//
// A 2D copy, and a write into one of its rows.
#include "touch.h"

enum { PITCH = 512, WIDTH = 200, ROWS = 128 };

int main(void)
{
    const size_t bytes = (size_t)PITCH * ROWS;
    const size_t where = 5 * PITCH + 10;
    cudaStream_t stream = new_stream();
    void *device = device_block(bytes, WANTED);
    void *target = pinned_block(bytes, WANTED);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(target, PITCH, device, PITCH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke(target, where);

    CHECK(cudaDeviceSynchronize());
    return finish(holds_poked(target, bytes, where));
}
