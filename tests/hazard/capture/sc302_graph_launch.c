// expect: SC302 action=reported certainty=observed event=cuGraphLaunch
//
// A graph cannot be launched into a stream that captures: the call and the capture fail as ever,
// and the program goes on without the second graph.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    bool refused = fixed || cudaGraphLaunch(exec, stream) == cudaErrorStreamCaptureUnsupported;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);

    replay(exec, stream);
    return finish(refused && ended && device_holds(to, SMALL, WANTED));
}
