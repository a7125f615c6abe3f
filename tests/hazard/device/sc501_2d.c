// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D certainty=observed
// options: device=1
//
// The right half of each row is uploaded in one stream, and whole rows are downloaded in another.
#include "twin.h"

enum { WIDTH = 512, ROWS = 64 };

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t uploaded = new_event();
    char *source = pinned_block(WIDTH * ROWS, WANTED);
    char *target = pinned_block(WIDTH * ROWS, 0);
    char *device = device_block(WIDTH * ROWS, WANTED);
    const size_t half = WIDTH / 2;

    CHECK(cudaMemset2D(device + half, WIDTH, 0, half, ROWS));
    CHECK(cudaDeviceSynchronize());
    busy(up);
    CHECK(cudaMemcpy2DAsync(device + half, WIDTH, source + half, WIDTH, half, ROWS,
                            cudaMemcpyHostToDevice, up));
    CHECK(cudaEventRecord(uploaded, up));
    if (fixed)
        CHECK(cudaStreamWaitEvent(down, uploaded, 0));
    CHECK(cudaMemcpyAsync(target, device, WIDTH * ROWS, cudaMemcpyDeviceToHost, down));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, WIDTH * ROWS, WANTED));
}
