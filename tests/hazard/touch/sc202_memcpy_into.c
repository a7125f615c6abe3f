// expect: SC202 action=stalled kind=pinned certainty=observed
//
// memcpy begins beside a result that is still to come, and goes on into it.
#include "touch.h"

enum { BEFORE = 1000, BYTES = 1000, EARLIER = 20, COPIED = 500 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, WANTED);
    unsigned char *target = (unsigned char *)pinned_block(BEFORE + BYTES, FOREIGN);
    unsigned char copied[COPIED];
    void *(*volatile copy)(void *, const void *, size_t) = memcpy;

    busy(stream);
    CHECK(cudaMemcpyAsync(target + BEFORE, device, BYTES, cudaMemcpyDeviceToHost, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    copy(copied, target + BEFORE - EARLIER, COPIED);
    bool right = holds(copied + EARLIER, COPIED - EARLIER, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
