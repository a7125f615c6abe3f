// expect: SC201 action=snapshotted kind=pinned
//
// A small box of pinned memory is sent by a peer copy, from within the volume, and overwritten.
#include "volumes.h"

static const struct volume box = {40, 100, 7, 9, 5};

int main(void)
{
    cudaStream_t stream = new_stream();
    unsigned char *volume = pinned_volume(&box);
    void *device = device_block(SMALL, 0);
    unsigned char image[30 * 4 * 3];
    bool right = true;
    struct cudaMemcpy3DPeerParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = (struct cudaPitchedPtr){volume, box.pitch, box.pitch, box.slice_rows};
    copy.srcPos = (struct cudaPos){10, 2, 1};
    copy.dstPtr = (struct cudaPitchedPtr){device, 30, 30, 4};
    copy.extent = (struct cudaExtent){30, 4, 3};

    CHECK(cudaMemcpy3DPeerAsync(&copy, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill_volume(volume, &box, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(image, device, sizeof image, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < sizeof image; i++) {
        size_t row = i / 30;
        size_t at = (((1 + row / 4) * box.rows) + 2 + row % 4) * box.width + 10 + i % 30;
        right = right && image[i] == pattern(WANTED, at);
    }
    return finish(right);
}
