// expect: SC201 action=snapshotted kind=pageable
// expect: SC201 action=snapshotted kind=registered
// sim: late_batch=1
//
// A small pageable source and a small registered one are refilled while another batch has still to
// write other pageable memory, which is nothing to them.
#include "batch.h"

enum { BYTES = 5000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *other = device_block(BYTES, 0);
    void *from = device_block(SMALL, WANTED);
    void *source = filled_block(BYTES, WANTED);
    void *registered = registered_block(BYTES, WANTED);
    void *result = filled_block(SMALL, 0);

    batch_copy(result, from, SMALL, cudaMemcpySrcAccessOrderStream, stream);
    batch_copy(device, source, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    batch_copy(other, registered, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, BYTES, FOREIGN);
    fill(registered, BYTES, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, BYTES, WANTED) && device_holds(other, BYTES, WANTED) &&
                  holds(source, BYTES, FOREIGN) && holds(result, SMALL, WANTED));
}
