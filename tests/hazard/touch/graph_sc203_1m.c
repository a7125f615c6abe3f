// expect: SC203 action=stalled certainty=observed
//
// The buffer of a launch's result is cleared for the next one while this one is in flight.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, WANTED);
    void *target = pinned_block(LARGE, 0);
    cudaGraphExec_t exec = captured_exec(target, device, LARGE, cudaMemcpyDeviceToHost, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(target, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, LARGE, FOREIGN));
}
