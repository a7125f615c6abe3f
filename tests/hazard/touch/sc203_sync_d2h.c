// expect: SC203 action=stalled kind=pinned certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy from the device comes before one that was issued earlier, and that then
// overwrites what it has brought.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *first = device_block(SMALL, FOREIGN);
    void *second = device_block(SMALL, WANTED);
    void *result = pinned_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, first, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(result, second, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(result, SMALL, WANTED));
}
