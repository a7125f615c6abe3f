// expect: SC201 action=snapshotted kind=pageable
// sim: late_batch=1
//
// A small pageable box of rows with gaps, in stream order, is refilled. The gaps are somebody
// else's, who writes them all the time.
#include "batch3d.h"

int main(void)
{
    const struct box box = {100, 6, 3, 160};
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    unsigned char *source = (unsigned char *)filled_block(box_bytes(&box), 0);
    fill_box(source, &box, WANTED);

    upload_box(device, source, &box, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill_box(source, &box, FOREIGN);
    memset(source + box.width, 0xee, box.row_bytes - box.width);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds_box(device, &box, WANTED) && box_holds(source, &box, FOREIGN));
}
