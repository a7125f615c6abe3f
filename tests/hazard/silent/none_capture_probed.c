// expect: none
//
// A program that asks before it does anything: whether the legacy stream may be used (906 says no,
// and harms nothing) and which streams capture.
#include "capture.h"

static enum cudaStreamCaptureStatus status_of(cudaStream_t stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    CHECK(cudaStreamIsCapturing(stream, &status));
    return status;
}

int main(void)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaStream_t stream = blocking_stream();
    cudaStream_t other = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    bool right = status_of(0) == cudaStreamCaptureStatusNone;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    right = right && cudaStreamIsCapturing(0, &status) == cudaErrorStreamCaptureImplicit;
    right = right && cudaGetLastError() == cudaErrorStreamCaptureImplicit;
    right = right && status_of(stream) == cudaStreamCaptureStatusActive;
    right = right && status_of(other) == cudaStreamCaptureStatusNone;
    cudaGraphExec_t exec = end_capture(stream, 1);
    right = right && status_of(0) == cudaStreamCaptureStatusNone;
    right = right && status_of(stream) == cudaStreamCaptureStatusNone;

    replay(exec, stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
