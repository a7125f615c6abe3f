// expect: SC403 action=stalled kind=pinned certainty=observed event=cuMemcpyDtoH_v2
//
// The static input of a graph is refilled by a synchronous copy while a launch is still to read it.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *next = device_block(SMALL, FOREIGN);
    void *input = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(to, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(input, next, SMALL, cudaMemcpyDeviceToHost));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(to, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
