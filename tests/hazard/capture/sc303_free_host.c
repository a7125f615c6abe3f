// expect: SC303 action=rerouted certainty=observed event=cuMemFreeHost
//
// A thread frees pinned memory while another thread captures. Fixed, the thread has the ThreadLocal
// mode, in which no capture of others is its business.
#include "capture.h"

static void *release(void *block)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeGlobal;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaFreeHost(block));
    return NULL;
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *others = pinned_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(release, others);
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
