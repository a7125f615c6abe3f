// expect: SC501 action=ordered origin=cuMemAlloc_v2 direction=D2D event=cuMemcpy3DAsync_v2
// options: device=1
//
// A box is copied into a volume, and another stream copies a box out of it, without an order: the
// two have some columns of some rows in common.
#include "boxes.h"

int main(void)
{
    cudaStream_t into = new_stream();
    cudaStream_t out = new_stream();
    cudaEvent_t copied = new_event();
    void *from = device_block(VOLUME, WANTED);
    void *volume = device_block(VOLUME, FOREIGN);
    void *result = device_block(VOLUME, 0);
    const struct cudaPos first = {0, 0, 0}, second = {511, 7, 3};
    const struct cudaExtent extent = {512, 8, 4};

    busy(into);
    copy_box(volume, first, from, first, extent, into);
    CHECK(cudaEventRecord(copied, into));
    if (fixed)
        CHECK(cudaStreamWaitEvent(out, copied, 0));
    copy_box(result, second, volume, second, extent, out);

    CHECK(cudaDeviceSynchronize());
    /* The one byte that both have. */
    const size_t at = (second.z * ROWS + second.y) * PITCH + second.x;
    unsigned char *image = image_of(VOLUME);
    unsigned char *wanted = filled_block(VOLUME, WANTED);
    CHECK(cudaMemcpy(image, result, VOLUME, cudaMemcpyDeviceToHost));
    return finish(image[at] == wanted[at]);
}
