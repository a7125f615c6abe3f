// expect: SC303 action=rerouted certainty=observed event=cuEventQuery
//
// A watchdog thread polls the event of its own stream while another thread captures. Fixed, the
// capture is ThreadLocal.
#include "capture.h"

static void *poll(void *event)
{
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaEventQuery((cudaEvent_t)event)) == cudaErrorNotReady)
        usleep(1000);
    TRY(state);
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
    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeThreadLocal
                                               : cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(poll, down);
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
