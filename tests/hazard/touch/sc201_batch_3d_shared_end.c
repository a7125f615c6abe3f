// expect: SC201 action=reported kind=pageable
// sim: late_batch=1
//
// The last row of a large pageable box lies on a page with other blocks, which is not guarded for
// their sake. That it was changed is found by what it was.
#include "batch3d.h"

int main(void)
{
    const struct box box = {1000, 60, 4, 1600};
    const size_t last = box.row_bytes * (box.height * box.depth - 1) + box.width - 1;
    cudaStream_t stream = new_stream();
    void *device = device_block(box_bytes(&box), 0);
    unsigned char *source = (unsigned char *)filled_block(box_bytes(&box), 0);
    fill_box(source, &box, WANTED);

    upload_box(device, source, &box, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    ((volatile unsigned char *)source)[last] ^= 1;

    CHECK(cudaDeviceSynchronize());
    return finish(true);
}
