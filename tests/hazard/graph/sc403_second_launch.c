// expect: SC403 action=stalled certainty=observed
//
// Two launches are queued, and the program waits for the event between them.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t first = new_event();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(first, stream));
    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(first));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
