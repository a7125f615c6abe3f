// expect: SC302 action=rerouted certainty=observed event=cuEventQuery
//
// The program polls the event of another stream during the capture. Fixed, under the Relaxed mode.
#include "capture.h"

static void poll(cudaEvent_t event)
{
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaEventQuery(event)) == cudaErrorNotReady)
        usleep(1000);
    TRY(state);
}

int main(void)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    cudaEvent_t down = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaEventRecord(down, downloads));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    poll(down);
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
