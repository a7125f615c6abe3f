// expect: none
// options: device=1
//
// Streams that nothing orders copy boxes into one volume and out of it, which have no byte in
// common: other columns of the same rows, other rows of the same layers, other layers.
#include "boxes.h"

int main(void)
{
    void *from = device_block(VOLUME, WANTED);
    void *volume = device_block(VOLUME, FOREIGN);
    void *result = device_block(VOLUME, 0);
    const struct cudaExtent extent = {PITCH / 2, ROWS / 2, LAYERS / 2};

    for (size_t i = 0; i < 8; i++) {
        const struct cudaPos pos = {(i & 1) * extent.width, (i >> 1 & 1) * extent.height,
                                    (i >> 2) * extent.depth};
        cudaStream_t stream = new_stream();
        busy(stream);
        copy_box(volume, pos, from, pos, extent, stream);
        copy_box(result, pos, volume, pos, extent, stream);
    }
    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(result, VOLUME, WANTED));
}
