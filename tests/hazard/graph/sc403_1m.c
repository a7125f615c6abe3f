// expect: SC403 action=stalled certainty=observed
//
// The static input of a graph is refilled while a launch is still to read it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *input = pinned_block(LARGE, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, LARGE, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, LARGE, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, LARGE, WANTED) && holds(input, LARGE, FOREIGN));
}
