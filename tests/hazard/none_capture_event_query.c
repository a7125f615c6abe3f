// expect: none
//
// An event that was last recorded in a capture stands for nothing that happened: asked about it
// after the capture, the driver says so (907), and the program takes that as an answer.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t captured = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaEventRecord(captured, stream));
    cudaGraphExec_t exec = end_capture(stream, 1);
    bool right = cudaEventQuery(captured) == cudaErrorCapturedEvent;
    right = right && cudaEventSynchronize(captured) == cudaErrorCapturedEvent;
    right = right && cudaGetLastError() == cudaErrorCapturedEvent;

    replay(exec, stream);
    CHECK(cudaEventRecord(captured, stream));
    CHECK(cudaEventSynchronize(captured));
    CHECK(cudaEventQuery(captured));
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
