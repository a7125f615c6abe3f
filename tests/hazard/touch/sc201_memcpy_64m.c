// expect: SC201 action=stalled kind=pinned certainty=observed
//
// 64 MB, and the next batch is copied over them by libc.
#include "touch.h"

static const size_t BATCH = (size_t)64 << 20;

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BATCH, 0);
    void *source = pinned_block(BATCH, WANTED);
    void *next = filled_block(BATCH, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, BATCH, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memcpy(source, next, BATCH);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, BATCH, WANTED) && holds(source, BATCH, FOREIGN));
}
