// expect: SC105 action=deferred kind=pinned certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// A synchronous copy on the per-thread stream establishes what that stream holds, and nothing of a
// non-blocking stream beside it.
#include "twin.h"

int main(void)
{
    cudaStream_t side = new_stream();
    unsigned char probe = 0;
    void *device = device_block(SMALL, 0);
    void *elsewhere = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaStream_t stream = fixed ? cudaStreamPerThread : side;

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpy(&probe, elsewhere, 1, cudaMemcpyDeviceToHost));
    CHECK(cudaFreeHost(source));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED));
}
