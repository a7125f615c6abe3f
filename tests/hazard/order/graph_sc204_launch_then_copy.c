// expect: SC204 action=ordered certainty=observed
//
// A launch brings data to a pinned buffer, and a copy on another stream carries it on.
#include "graphs.h"

int main(void)
{
    cudaStream_t down = new_stream();
    cudaStream_t up = new_stream();
    cudaEvent_t arrived = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *between = pinned_block(SMALL, FOREIGN);
    cudaGraphExec_t exec = captured_exec(between, from, SMALL, cudaMemcpyDeviceToHost, down);

    busy(down);
    CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaEventRecord(arrived, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, arrived, 0));
    CHECK(cudaMemcpyAsync(to, between, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED));
}
