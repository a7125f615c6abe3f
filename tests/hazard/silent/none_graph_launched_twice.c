// expect: none
//
// Launched three times without a wait in between, and nothing touched until all are complete. What
// reads does not disturb a launch that reads.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    void *output = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    busy(stream);
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    bool right = holds(input, SMALL, WANTED);
    CHECK(cudaStreamSynchronize(stream));
    right = right && holds(output, SMALL, WANTED);
    fill(input, SMALL, FOREIGN);
    fill(output, SMALL, FOREIGN);
    return finish(right && device_holds(device, SMALL, WANTED));
}
