// expect: SC302 action=reported certainty=observed event=cuGraphUpload
//
// A graph is uploaded in the stream that captures. No mode permits that: the call and the capture
// fail as ever, and the program goes on without the second graph.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(to, from, stream);
    cudaGraphExec_t first = end_capture(stream, 1);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(to, from, stream);
    bool refused = fixed || cudaGraphUpload(first, stream) == cudaErrorStreamCaptureUnsupported;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);
    if (fixed)
        CHECK(cudaGraphUpload(first, stream));
    replay(first, stream);
    return finish(refused && ended && !broken && device_holds(to, SMALL, WANTED));
}
