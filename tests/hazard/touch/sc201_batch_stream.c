// expect: SC201 action=snapshotted kind=pageable
// sim: late_batch=1
//
// A small pageable source of a batch in stream order is refilled as soon as the call has returned.
#include "batch.h"

enum { BYTES = 5000 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *source = filled_block(BYTES, WANTED);

    batch_copy(device, source, BYTES, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(source, BYTES, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, BYTES, WANTED) && holds(source, BYTES, FOREIGN));
}
