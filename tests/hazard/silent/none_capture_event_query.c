// expect: none
//
// An event that was last recorded in a capture is asked about after the capture. What a driver
// answers differs; it breaks nothing.
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
    cudaEventQuery(captured);
    cudaEventSynchronize(captured);
    cudaGetLastError();

    replay(exec, stream);
    CHECK(cudaEventRecord(captured, stream));
    CHECK(cudaEventSynchronize(captured));
    CHECK(cudaEventQuery(captured));
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
