// expect: SC302 action=rerouted certainty=observed event=cuMemFreeHost
//
// Pinned staging memory that is no longer needed is freed during the capture.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *staging = pinned_block(SMALL, WANTED);
    CHECK(cudaMemcpyAsync(from, staging, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFreeHost(staging));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaFreeHost(staging));

    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
