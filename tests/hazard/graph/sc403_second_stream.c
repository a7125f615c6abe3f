// expect: SC403 action=stalled certainty=observed
//
// The exec is launched on one stream and then on another, and the program waits for the first.
#include "graphs.h"

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, first);

    CHECK(cudaGraphLaunch(exec, first));
    busy(second);
    CHECK(cudaGraphLaunch(exec, second));
    CHECK(cudaStreamSynchronize(first));
    if (fixed)
        CHECK(cudaStreamSynchronize(second));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
