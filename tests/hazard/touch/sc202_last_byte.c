// expect: SC202 action=stalled kind=registered certainty=observed
//
// The last byte of a registered destination.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_page_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = peek(target, SMALL - 1);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
