// expect: none
//
// What every capture permits: making streams and events, asking about pointers, and work on other
// streams, non-blocking ones and blocking ones, waited for only after the capture.
#include "capture.h"

int main(void)
{
    struct cudaPointerAttributes attributes;
    cudaStream_t stream = blocking_stream();
    cudaStream_t other = new_stream();
    cudaStream_t blocking = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);
    void *second = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStream_t made = new_stream();
    cudaEvent_t event = new_event();
    CHECK(cudaPointerGetAttributes(&attributes, target));
    busy(other);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, other));
    CHECK(cudaEventRecord(event, other));
    CHECK(cudaStreamWaitEvent(blocking, event, 0));
    CHECK(cudaMemcpyAsync(second, from, SMALL, cudaMemcpyDeviceToHost, blocking));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);
    CHECK(cudaStreamSynchronize(blocking));
    bool right = holds(target, SMALL, WANTED) && holds(second, SMALL, WANTED);

    replay(exec, made);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
