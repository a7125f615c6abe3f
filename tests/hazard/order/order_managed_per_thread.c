// expect: SC201 action=stalled kind=pinned certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// In the thread's own default stream a copy from managed to pinned memory is no wait, either: an
// upload that is before it has its source still to read.
#include "managed.h"

int main(void)
{
    void *from = managed_block(ROW_BYTES, WANTED), *result = pinned_block(ROW_BYTES, FOREIGN);
    void *source = pinned_block(SMALL, WANTED), *to = device_block(SMALL, 0);

    busy(0);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(result, from, ROW_BYTES, cudaMemcpyDefault, 0));
    if (fixed)
        CHECK(cudaStreamSynchronize(0));
    fill(source, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(result, ROW_BYTES, WANTED));
}
