// expect: SC403 action=stalled certainty=observed
//
// The step's number, counted up while the launch for the step before is in flight.
#include "graphs.h"

int main(void)
{
    uint64_t seen = 0;
    cudaStream_t stream = new_stream();
    void *device = device_block(8, 0);
    volatile uint64_t *number = (volatile uint64_t *)pinned_block(8, 0);
    cudaGraphExec_t exec =
        captured_exec(device, (const void *)(uintptr_t)number, 8, cudaMemcpyHostToDevice, stream);

    *number = 41;
    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    *number += 1;

    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&seen, device, 8, cudaMemcpyDeviceToHost));
    return finish(seen == 41 && *number == 42);
}
