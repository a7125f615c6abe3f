// expect: SC202 action=stalled kind=registered certainty=observed
//
// The result is copied on by libc before it is there.
#include "touch.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    void *target = registered_page_block(LARGE, 0);
    void *kept = filled_block(LARGE, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, LARGE, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    memcpy(kept, target, LARGE);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(kept, LARGE, WANTED));
}
