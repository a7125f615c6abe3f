// expect: none
//
// 200 graphs come and go with their buffers, which are freed before the execs are destroyed: what
// is held for an exec goes with it.
#include "graphs.h"

enum { ROUNDS = 200 };

static bool use_graph(void *device, unsigned seed, cudaStream_t stream)
{
    void *input = filled_block(LARGE, seed);
    void *output = pinned_block(LARGE, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, LARGE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, LARGE, cudaMemcpyDeviceToHost, stream));
    cudaGraph_t graph = end_capture(stream);
    cudaGraphExec_t exec = instantiate(graph);
    replay(exec, stream);
    bool right = holds(output, LARGE, seed);
    free(input);
    CHECK(cudaFreeHost(output));
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    return right;
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    right = use_graph(device, FOREIGN, stream);
    size_t before = resident_bytes();
    for (unsigned i = 0; i < ROUNDS; i++)
        right = use_graph(device, i, stream) && right;
    return finish(right && resident_bytes() < before + 64 * LARGE);
}
