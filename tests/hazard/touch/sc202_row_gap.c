// expect: SC202 action=stalled kind=pinned certainty=observed
//
// A load begins in the gap between two rows that are in flight, and reaches into the second.
#include "touch.h"

enum { PITCH = 16, WIDTH = 8, GAP = PITCH - WIDTH, ROWS = 100, ROW = 50 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block((size_t)ROWS * WIDTH, WANTED);
    unsigned char *target = (unsigned char *)pinned_block((size_t)ROWS * PITCH + GAP, 0);

    busy(stream);
    CHECK(cudaMemcpy2DAsync(target + GAP, PITCH, device, WIDTH, WIDTH, ROWS, cudaMemcpyDeviceToHost,
                            stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    unsigned char loaded[8];
    uint64_t bytes = *(volatile uint64_t *)(target + (size_t)ROW * PITCH + GAP / 2);
    memcpy(loaded, &bytes, sizeof loaded);
    bool right = loaded[GAP / 2] == pattern(WANTED, (size_t)ROW * WIDTH);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
