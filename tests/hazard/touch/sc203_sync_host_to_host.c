// expect: SC203 action=stalled kind=pinned certainty=observed
//
// The same by a synchronous copy between two host addresses.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(LARGE, FOREIGN);
    void *next = filled_block(LARGE, WANTED);
    void *result = pinned_block(LARGE, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, from, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(result, next, LARGE, cudaMemcpyHostToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(result, LARGE, WANTED));
}
