// expect: none
//
// The exec is destroyed while its launch is in flight, and the buffers are freed after a
// synchronise.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaStreamSynchronize(stream));
    fill(input, SMALL, FOREIGN);
    CHECK(cudaHostUnregister(input));
    free(input);
    return finish(device_holds(device, SMALL, WANTED));
}
