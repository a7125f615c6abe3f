// expect: SC302 action=rerouted certainty=observed event=cuMemFreeHost
//
// Pinned memory that another graph still names is freed during the capture. That graph is not
// launched any more.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *staging = pinned_block(SMALL, WANTED);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(from, staging, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t old = end_capture(stream, 1);
    replay(old, stream);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFreeHost(staging));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaFreeHost(staging));

    replay(exec, stream);
    CHECK(cudaGraphExecDestroy(old));
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
