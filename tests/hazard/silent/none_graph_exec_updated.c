// expect: none
//
// An exec is moved from one input to the next by an update from a new graph, and the input before
// is freed: after the launch that read it, and before the next one.
#include "graphs.h"

enum { TURNS = 10 };

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    cudaGraphExecUpdateResultInfo result;
    void *device = device_block(SMALL, 0);
    void *input = registered_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    for (int turn = 1; turn <= TURNS; turn++) {
        void *next = registered_block(SMALL, turn);
        cudaGraph_t graph = captured_copy(device, next, SMALL, cudaMemcpyHostToDevice, stream);
        CHECK(cudaGraphExecUpdate(exec, graph, &result));
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaHostUnregister(input));
        free(input);
        replay(exec, stream);
        right = right && device_holds(device, SMALL, turn);
        input = next;
    }

    CHECK(cudaGraphExecDestroy(exec));
    return finish(right && holds(input, SMALL, TURNS));
}
