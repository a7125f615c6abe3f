// expect: SC202 action=stalled kind=pinned
//
// cudaFree of what cudaMalloc has made waits for the device; of memory of cudaMallocAsync it waits
// for nothing, and a result is not there yet.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *pooled = NULL;
    void *plain = NULL;
    CHECK(cudaMallocAsync(&pooled, SMALL, stream));
    CHECK(cudaMalloc(&plain, SMALL));
    CHECK(cudaStreamSynchronize(stream));

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaFree(fixed ? plain : pooled));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
