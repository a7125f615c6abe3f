// expect: SC303 action=rerouted certainty=observed event=cuMemFree_v2
//
// A thread frees device memory while another thread captures. Fixed, under the Relaxed mode.
#include "capture.h"

static void *release(void *block)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaFree(block));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    return NULL;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *others = device_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(release, others);
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
