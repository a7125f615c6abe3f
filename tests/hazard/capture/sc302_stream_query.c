// expect: SC302 action=rerouted certainty=observed event=cuStreamQuery
//
// The program polls another non-blocking stream during the capture. Fixed, the capture is Relaxed.
#include "capture.h"

static void poll(cudaStream_t stream)
{
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(stream)) == cudaErrorNotReady)
        usleep(1000);
    TRY(state);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeRelaxed
                                               : cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    poll(downloads);
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
