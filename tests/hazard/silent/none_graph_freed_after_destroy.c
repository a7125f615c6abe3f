// expect: none
//
// First the exec and the graph go, then the buffers; all is complete.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = registered_block(SMALL, WANTED);
    void *output = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraph_t graph = end_capture(stream);
    cudaGraphExec_t exec = instantiate(graph);

    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    bool right = holds(output, SMALL, WANTED);
    CHECK(cudaHostUnregister(input));
    free(input);
    CHECK(cudaFreeHost(output));
    return finish(right);
}
