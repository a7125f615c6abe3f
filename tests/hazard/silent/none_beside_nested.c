// expect: none
//
// While a stream captures, a helper captures a graph of its own on another one, and launches it at
// once, several times: its uploads and downloads, those within and those beside its capture, are
// the helper's own business.
#include "left_out.h"

static void help(cudaStream_t stream, void *input, void *source, void *copied)
{
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(copied, input, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);
    for (int i = 0; i < 3; i++) {
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
        replay(exec, stream);
    }
    CHECK(cudaGraphExecDestroy(exec));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t helpers = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *copied = device_block(SMALL, 0);
    void *from = device_block(SMALL, NEXT);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(result, from, stream);
    help(helpers, input, source, copied);
    cudaGraphExec_t exec = end_capture(stream, 1);
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(copied, SMALL, WANTED) &&
                  device_holds(result, SMALL, NEXT));
}
