// expect: SC202 action=stalled kind=registered certainty=observed event=cuMemcpyHtoD_v2
//
// A synchronous copy out of registered memory, of a part of what is still to come.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(LARGE, WANTED);
    void *to = device_block(LARGE, 0);
    char *between = (char *)registered_block(LARGE, FOREIGN);

    busy(stream);
    CHECK(cudaMemcpyAsync(between, from, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy((char *)to + LARGE - 100, between + LARGE - 100, 100, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(to, between, LARGE - 100, cudaMemcpyHostToDevice));
    return finish(device_holds(to, LARGE, WANTED));
}
