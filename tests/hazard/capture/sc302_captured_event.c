// expect: SC302 action=reported certainty=observed event=cuEventQuery
//
// An event that was recorded in the capture is queried while that is open: there is nothing to
// answer. The call (907) and the capture fail as ever, and the program goes on without a graph.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t captured = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaEventRecord(captured, stream));
    bool refused = fixed || cudaEventQuery(captured) == cudaErrorCapturedEvent;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);

    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(refused && ended && device_holds(to, SMALL, WANTED));
}
