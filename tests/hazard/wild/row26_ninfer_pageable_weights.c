// expect: SC501 action=ordered kind=device origin=cuMemAlloc_v2 direction=H2D
// options: device=1
//
// docs/wild-bugs.md, row 26: each layer's weights are uploaded by cudaMemcpy out of one pageable
// buffer. The copy is taken to have landed when it returns, and the layer runs on a non-blocking
// stream.
#include "twin.h"

enum { LAYERS = 3, WEIGHT_BYTES = 4096 };

static void load(void *weights, unsigned layer)
{
    unsigned char buffer[WEIGHT_BYTES];
    fill(buffer, sizeof buffer, WANTED + layer);
    CHECK(cudaMemcpy(weights, buffer, sizeof buffer, cudaMemcpyHostToDevice));
    if (fixed)
        CHECK(cudaStreamSynchronize(cudaStreamLegacy));
}

int main(void)
{
    cudaStream_t compute = new_stream();
    void *weights[LAYERS], *used[LAYERS];
    bool right = true;
    for (int i = 0; i < LAYERS; i++) {
        weights[i] = device_block(WEIGHT_BYTES, FOREIGN);
        used[i] = device_block(WEIGHT_BYTES, 0);
    }

    for (unsigned i = 0; i < LAYERS; i++) {
        load(weights[i], i);
        CHECK(
            cudaMemcpyAsync(used[i], weights[i], WEIGHT_BYTES, cudaMemcpyDeviceToDevice, compute));
    }

    CHECK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < LAYERS; i++)
        right = device_holds(used[i], WEIGHT_BYTES, WANTED + i) && right;
    return finish(right);
}
