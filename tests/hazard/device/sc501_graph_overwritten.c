// expect: SC501 action=ordered direction=D2H event=cuMemcpyHtoDAsync_v2 certainty=observed
// options: device=1
//
// The next input is uploaded while a graph in another stream has still to download the last one.
#include "graphs.h"

int main(void)
{
    cudaStream_t up = new_stream();
    cudaStream_t down = new_stream();
    cudaEvent_t downloaded = new_event();
    void *next = pinned_block(SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);
    void *input = device_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(target, input, SMALL, cudaMemcpyDeviceToHost, down);

    busy(down);
    CHECK(cudaGraphLaunch(exec, down));
    CHECK(cudaEventRecord(downloaded, down));
    if (fixed)
        CHECK(cudaStreamWaitEvent(up, downloaded, 0));
    CHECK(cudaMemcpyAsync(input, next, SMALL, cudaMemcpyHostToDevice, up));

    CHECK(cudaDeviceSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
