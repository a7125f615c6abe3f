// expect: SC301 action=rerouted certainty=observed event=cuStreamWaitEvent
//
// The legacy stream is told to wait for the event of a non-blocking stream while a blocking stream
// captures. What is issued on it later, after the capture, comes behind the event all the same.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = new_stream();
    cudaEvent_t up = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *uploaded = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    busy(uploads);
    CHECK(cudaMemcpyAsync(uploaded, source, SMALL, cudaMemcpyHostToDevice, uploads));
    CHECK(cudaEventRecord(up, uploads));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaStreamWaitEvent(0, up, 0));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed || broken)
        CHECK(cudaStreamWaitEvent(0, up, 0));
    CHECK(cudaMemcpyAsync(target, uploaded, SMALL, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    bool right = holds(target, SMALL, WANTED);

    replay(exec, stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
