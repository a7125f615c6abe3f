// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2
//
// A result of 8 bytes is sent on before it is there.
#include "twin.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(8, WANTED);
    void *to = device_block(8, 0);
    void *result = pinned_block(8, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(result, from, 8, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(to, result, 8, cudaMemcpyHostToDevice));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, 8, WANTED));
}
