// expect: SC302 action=rerouted certainty=observed event=cuStreamSynchronize
//
// The program waits for another non-blocking stream during the capture. Fixed, under the Relaxed
// mode.
#include "capture.h"

int main(void)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaStreamSynchronize(downloads));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
