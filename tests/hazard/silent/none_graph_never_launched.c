// expect: none
//
// Graphs that are captured, cloned, instantiated and never launched, and whose buffers are freed
// while they are there.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *source = registered_block(SMALL, FOREIGN);
    void *target = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraph_t graph = end_capture(stream);
    cudaGraph_t clone = NULL;
    CHECK(cudaGraphClone(&clone, graph));
    cudaGraphExec_t exec = instantiate(graph);

    CHECK(cudaHostUnregister(source));
    free(source);
    CHECK(cudaFreeHost(target));
    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(clone));

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
