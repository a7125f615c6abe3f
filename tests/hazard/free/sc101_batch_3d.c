// expect: SC101 action=deferred kind=pageable
// sim: late_batch=1
//
// A pageable box in stream order is freed as soon as the call has returned.
#include "batch3d.h"

int main(void)
{
    /* So small that the heap keeps it when it is freed. */
    const struct box box = {1000, 10, 10, 1024};
    cudaStream_t stream = new_stream();
    void *device = device_block(box.width * box.height * box.depth, 0);
    void *source = filled_block(box_bytes(&box), 0);
    fill_box(source, &box, WANTED);

    upload_box(device, source, &box, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    free(source);
    void *owner = filled_block(box_bytes(&box), FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds_box(device, &box, WANTED) && holds(owner, box_bytes(&box), FOREIGN));
}
