// expect: none
//
// An exec whose copy reads a local variable is updated by a graph that reads a static one: a driver
// that wants the nodes to name the same type of memory finds that they do.
#include "graphs.h"

int main(void)
{
    static uint64_t lasting;
    uint64_t local = 0;
    cudaStream_t stream = new_stream();
    cudaGraphExecUpdateResultInfo result;
    void *device = device_block(sizeof local, 0);
    fill(&local, sizeof local, FOREIGN);
    fill(&lasting, sizeof lasting, WANTED);
    cudaGraphExec_t exec =
        captured_exec(device, &local, sizeof local, cudaMemcpyHostToDevice, stream);
    replay(exec, stream);

    cudaGraph_t graph =
        captured_copy(device, &lasting, sizeof lasting, cudaMemcpyHostToDevice, stream);
    CHECK(cudaGraphExecUpdate(exec, graph, &result));
    replay(exec, stream);
    return finish(device_holds(device, sizeof local, WANTED));
}
