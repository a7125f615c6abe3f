// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpyHtoDAsync_v2
//
// An upload beside a capture into a graph of the program's, whose exec is updated from it.
#include "left_out.h"

static cudaGraph_t capture_step(cudaStream_t stream, void *input, const void *source, void *result)
{
    cudaGraph_t graph = NULL, ended = NULL;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, fixed ? stream : 0));
    capture_copy(result, input, stream);
    CHECK(cudaStreamEndCapture(stream, &ended));
    return graph;
}

int main(void)
{
    cudaGraphExec_t exec = NULL;
    cudaGraphExecUpdateResultInfo info;
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    cudaGraph_t first = capture_step(stream, input, source, result);
    CHECK(cudaGraphInstantiateWithFlags(&exec, first, 0));
    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    cudaGraph_t second = capture_step(stream, input, source, result);
    CHECK(cudaGraphExecUpdate(exec, second, &info));
    CHECK(cudaGraphDestroy(first));
    CHECK(cudaGraphDestroy(second));

    CHECK(cudaDeviceSynchronize());
    bool right = second_launch_sees(exec, stream, source, result);
    return finish(!broken && right);
}
