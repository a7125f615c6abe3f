// expect: SC202 action=stalled certainty=observed
//
// A loss of 8 bytes, looked at before the step that computes it has run: the second step, since the
// first one was waited for.
#include "graphs.h"

int main(void)
{
    uint64_t wanted;
    cudaStream_t stream = new_stream();
    void *device = device_block(8, FOREIGN);
    volatile uint64_t *loss = (volatile uint64_t *)pinned_block(8, 0);
    cudaGraphExec_t exec =
        captured_exec((void *)(uintptr_t)loss, device, 8, cudaMemcpyDeviceToHost, stream);
    replay(exec, stream);
    fill(&wanted, sizeof wanted, WANTED);
    CHECK(cudaMemcpy(device, &wanted, sizeof wanted, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    uint64_t got = *loss;

    CHECK(cudaDeviceSynchronize());
    return finish(got == wanted);
}
