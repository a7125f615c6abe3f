// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The host spins on the destination's last word, as if the words arrived in order. A kernel keeps
// the stream busy: of a host function that does, mode=report could not tell whether it waits for
// what the host does.
#include "held_kernels.h"

int main(void)
{
    const size_t last = SMALL / 8 - 1;
    cudaStream_t stream = new_stream();
    struct held_kernels held = new_held_kernels((CUstream)stream);
    void *device = device_block(SMALL, WANTED);
    uint64_t *target = (uint64_t *)pinned_block(SMALL, 0);
    target[last] = 0;

    hold_by_kernel(&held);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    end_held_kernels(&held);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    while (((volatile uint64_t *)target)[last] == 0)
        usleep(100);
    bool right = holds(target, SMALL, WANTED);

    CHECK(cudaDeviceSynchronize());
    return finish(right);
}
