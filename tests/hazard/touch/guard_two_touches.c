// expect: SC201 action=stalled kind=pinned certainty=observed
// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Two buffers in flight on two streams, and libc copies from the one that arrives to the one that
// is being sent: both ends of one memcpy are too early.
#include "touch.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    void *to = device_block(SMALL, 0);
    void *from = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(down);
    busy(up);
    busy(up);
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, up));
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, down));
    if (fixed)
        CHECK(cudaDeviceSynchronize());
    memcpy(source, target, SMALL);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
