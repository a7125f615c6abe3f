// expect: SC303 action=rerouted certainty=observed event=cuEventSynchronize
//
// A thread waits for the event of its own stream while another thread captures. Fixed, under the
// Relaxed mode.
#include "capture.h"

static void *wait(void *event)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaEventSynchronize((cudaEvent_t)event));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    return NULL;
}

int main(void)
{
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
    on_other_thread(wait, down);
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
