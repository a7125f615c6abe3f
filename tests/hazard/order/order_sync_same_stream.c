// expect: SC202 action=stalled certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// Established by the thread's own default stream, in which both copies are. In the racy build the
// first one is in another.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = fixed ? cudaStreamPerThread : new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpy(to, between, SMALL, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
