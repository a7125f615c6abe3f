// expect: SC302 action=rerouted certainty=observed event=cuMemFreeHost
// expect: SC105 action=deferred kind=pinned event=cuMemFreeHost
//
// Pinned staging memory is freed during the capture, with the copy out of it in flight.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t uploads = new_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *staging = pinned_block(SMALL, WANTED);
    if (!fixed)
        busy(uploads);
    CHECK(cudaMemcpyAsync(from, staging, SMALL, cudaMemcpyHostToDevice, uploads));
    if (fixed)
        CHECK(cudaStreamSynchronize(uploads));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFreeHost(staging));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaFreeHost(staging));

    CHECK(cudaStreamSynchronize(uploads));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
