// expect: SC202 kind=pinned certainty=observed
// expect: SC105 kind=pinned
//
// The result is read too early, and its buffer freed. To wait for the copy on the program's behalf
// does not tell the program that it is complete.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(8, WANTED);
    void *result = pinned_block(8, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, device, 8, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = holds(result, 8, WANTED);
    CHECK(cudaFreeHost(result));

    void *owner = pinned_block(8, FOREIGN);
    CHECK(cudaDeviceSynchronize());
    return finish(right && holds(owner, 8, FOREIGN));
}
