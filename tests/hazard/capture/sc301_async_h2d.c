// expect: SC301 action=rerouted certainty=observed event=cuMemcpyHtoDAsync_v2
//
// An asynchronous copy of pinned memory to the device, on the legacy stream instead of one of its
// own, while a blocking stream captures.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(uploads));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
