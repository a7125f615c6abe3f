// expect: none
//
// A non-blocking stream captures, and the legacy stream has nothing to do with it: copies and
// memsets on it, synchronous and not, are permitted in every mode.
#include "capture.h"

static bool capture_with(enum cudaStreamCaptureMode mode)
{
    cudaStream_t stream = new_stream();
    cudaStream_t blocking = blocking_stream();
    cudaEvent_t event = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *beside = device_block(SMALL, 0);
    void *copied = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, FOREIGN);
    void *result = filled_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, mode));
    CHECK(cudaMemset(beside, 0, SMALL));
    CHECK(cudaMemcpyAsync(beside, source, SMALL, cudaMemcpyHostToDevice, 0));
    capture_copy(to, from, stream);
    CHECK(cudaEventRecord(event, 0));
    CHECK(cudaStreamWaitEvent(blocking, event, 0));
    CHECK(cudaMemcpyAsync(copied, beside, SMALL, cudaMemcpyDeviceToDevice, blocking));
    CHECK(cudaMemcpy(result, copied, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);

    replay(end_capture(stream, 1), stream);
    CHECK(cudaDeviceSynchronize());
    return right && device_holds(to, SMALL, WANTED);
}

int main(void)
{
    bool right = capture_with(cudaStreamCaptureModeGlobal);
    right = capture_with(cudaStreamCaptureModeThreadLocal) && right;
    right = capture_with(cudaStreamCaptureModeRelaxed) && right;
    return finish(!broken && right);
}
