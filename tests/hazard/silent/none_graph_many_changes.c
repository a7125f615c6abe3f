// expect: none
//
// Captured nodes that are given another source 1,000 times, in one graph and then in one after
// another. What they named before is freed, and not kept.
#include "graphs.h"

enum { ROUNDS = 1000 };

static TWIN_HELPER void point_at(cudaGraph_t graph, void *device, const void *source)
{
    CHECK(cudaGraphMemcpyNodeSetParams1D(only_node(graph), device, source, LARGE,
                                         cudaMemcpyHostToDevice));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = filled_block(LARGE, 0);
    cudaGraph_t graph = captured_copy(device, source, LARGE, cudaMemcpyHostToDevice, stream);

    size_t before = resident_bytes();
    for (unsigned i = 1; i <= ROUNDS; i++) {
        void *next = filled_block(LARGE, i);
        point_at(graph, device, next);
        free(source);
        source = next;
    }
    cudaGraphExec_t exec = instantiate_only(graph);
    replay(exec, stream);
    bool right = device_holds(device, LARGE, ROUNDS & 0xff);
    CHECK(cudaGraphExecDestroy(exec));

    for (unsigned i = 1; i <= ROUNDS; i++) {
        void *next = filled_block(LARGE, i);
        graph = captured_copy(device, source, LARGE, cudaMemcpyHostToDevice, stream);
        point_at(graph, device, next);
        free(source);
        CHECK(cudaGraphDestroy(graph));
        source = next;
    }
    free(source);
    return finish(right && resident_bytes() < before + 64 * LARGE);
}
