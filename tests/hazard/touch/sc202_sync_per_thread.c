// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2_ptds
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
// not-by: kernel threads ranges
//
// A synchronous copy on the thread's own default stream.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
