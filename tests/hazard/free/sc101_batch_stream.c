// expect: SC101 action=deferred kind=pageable origin=None
// sim: late_batch=1
//
// A pageable source in stream order is the driver's until the stream has come to the copy: newer
// drivers read it as late as that. The racy build frees it as soon as the call has returned.
#include "batch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = filled_block(SMALL, WANTED);

    batch_copy(device, source, SMALL, cudaMemcpySrcAccessOrderStream, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
