// expect: SC302 action=rerouted certainty=observed event=cuMemHostAlloc
//
// Pinned memory for the results is allocated during the capture. Fixed, under the Relaxed mode.
#include "capture.h"

int main(void)
{
    enum cudaStreamCaptureMode mode =
        fixed ? cudaStreamCaptureModeRelaxed : cudaStreamCaptureModeGlobal;
    void *results = NULL;
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaMallocHost(&results, SMALL));
    CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
    TRY(cudaMemcpyAsync(results, from, SMALL, cudaMemcpyDeviceToHost, stream));

    replay(end_capture(stream, 1), stream);
    return finish(!broken && holds(results, SMALL, WANTED));
}
