// expect: none
//
// Each step captures anew, and uploads beside the capture: each graph is launched once, by an exec
// of its own or by one that is updated.
#include "left_out.h"

int main(void)
{
    bool right = true;
    cudaGraphExec_t kept = NULL;
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, 0);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    for (unsigned step = 1; step < 12; step++) {
        cudaGraph_t graph = NULL;
        cudaGraphExec_t exec = NULL;
        cudaGraphExecUpdateResultInfo info;
        fill(source, SMALL, step);
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, 0));
        capture_copy(result, input, stream);
        CHECK(cudaStreamEndCapture(stream, &graph));
        if (step < 6)
            CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
        else if (!kept)
            CHECK(cudaGraphInstantiateWithFlags(&kept, graph, 0));
        else
            CHECK(cudaGraphExecUpdate(kept, graph, &info));
        CHECK(cudaDeviceSynchronize());
        replay(exec ? exec : kept, stream);
        right = device_holds(result, SMALL, step) && right;
        CHECK(cudaGraphDestroy(graph));
        if (exec)
            CHECK(cudaGraphExecDestroy(exec));
    }
    return finish(!broken && right);
}
