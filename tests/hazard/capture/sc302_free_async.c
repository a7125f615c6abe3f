// expect: SC302 action=rerouted certainty=observed
//
// A stream-ordered free on a stream that does not capture is not permitted either.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *block = NULL;
    CHECK(cudaMallocAsync(&block, SMALL, other));
    CHECK(cudaStreamSynchronize(other));
    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeRelaxed
                                               : cudaStreamCaptureModeGlobal));
    TRY(cudaFreeAsync(block, other));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
