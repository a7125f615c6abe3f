// expect: SC301 action=reported certainty=observed event=cuStreamWaitEvent
//
// The legacy stream is told to wait for an event that was recorded in the capture: it would become
// part of it. The call (906) and the capture (901) fail as ever, and the program goes on without.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t other = blocking_stream();
    cudaEvent_t captured = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaEventRecord(captured, stream));
    bool refused = fixed || cudaStreamWaitEvent(0, captured, 0) == cudaErrorStreamCaptureImplicit;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);

    CHECK(cudaEventRecord(captured, other));
    CHECK(cudaStreamWaitEvent(0, captured, 0));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaStreamSynchronize(0));
    return finish(refused && ended && device_holds(to, SMALL, WANTED));
}
