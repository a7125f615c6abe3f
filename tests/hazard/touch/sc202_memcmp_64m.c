// expect: SC202 action=stalled kind=pinned certainty=observed
//
// 64 MB, compared with what is expected while they arrive.
#include "touch.h"

static const size_t BATCH = (size_t)64 << 20;

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BATCH, WANTED);
    void *target = pinned_block(BATCH, 0);
    void *expected = filled_block(BATCH, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(target, device, BATCH, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    bool right = memcmp(expected, target, BATCH) == 0;

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
