// expect: none
//
// One exec that is moved to a new buffer 200 times. What it named before is freed, and not kept for
// as long as the exec lives.
#include "graphs.h"

enum { ROUNDS = 200 };

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *input = filled_block(LARGE, 0);
    cudaGraphExec_t exec = captured_exec(device, input, LARGE, cudaMemcpyHostToDevice, stream);

    size_t before = resident_bytes();
    for (unsigned i = 1; i <= ROUNDS; i++) {
        cudaGraphExecUpdateResultInfo result;
        void *next = filled_block(LARGE, i);
        cudaGraph_t graph = captured_copy(device, next, LARGE, cudaMemcpyHostToDevice, stream);
        CHECK(cudaGraphExecUpdate(exec, graph, &result));
        CHECK(cudaGraphDestroy(graph));
        free(input);
        replay(exec, stream);
        right = right && device_holds(device, LARGE, i);
        input = next;
    }
    return finish(right && resident_bytes() < before + 64 * LARGE);
}
