// expect: SC201 action=stalled kind=pageable certainty=observed
// in-place: none
// in-place: wrong
//
// A large pageable box with order ANY is refilled, from its middle on, while the driver has still
// to read it.
#include "batch3d.h"

int main(void)
{
    const struct box box = {3000, 40, 8, 4096};
    cudaStream_t stream = new_stream();
    void *device = device_block(box.width * box.height * box.depth, 0);
    unsigned char *source = (unsigned char *)filled_block(box_bytes(&box), 0);
    fill_box(source, &box, WANTED);

    busy(stream);
    upload_box(device, source, &box, cudaMemcpySrcAccessOrderAny, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    source[box_bytes(&box) / 2] = FOREIGN;

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds_box(device, &box, WANTED) && source[box_bytes(&box) / 2] == FOREIGN);
}
