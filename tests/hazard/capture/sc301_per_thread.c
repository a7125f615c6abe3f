// expect: SC301 action=rerouted certainty=observed
// cflags: -DCUDA_API_PER_THREAD_DEFAULT_STREAM
//
// Built for the per-thread default stream, which is a blocking one. It captures, and the program
// copies on the legacy stream instead of one of its own.
#include "capture.h"

int main(void)
{
    cudaStream_t uploads = fixed ? new_stream() : cudaStreamLegacy;
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    CHECK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, uploads));
    capture_copy(to, from, 0);
    cudaGraphExec_t exec = end_capture(0, 1);

    CHECK(cudaStreamSynchronize(uploads));
    replay(exec, 0);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
