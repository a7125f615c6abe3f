// expect: SC301 action=rerouted certainty=observed
//
// The legacy stream is still busy with what it was given during the capture when, after the
// capture, a blocking stream and the legacy stream itself go on with the result.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = fixed ? new_stream() : blocking_stream();
    cudaStream_t later = blocking_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *on_later = pinned_block(SMALL, 0);
    void *on_legacy = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaLaunchHostFunc(0, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, 0));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaMemcpyAsync(on_later, from, SMALL, cudaMemcpyDeviceToHost, later));
    replay(exec, later);
    CHECK(cudaMemcpyAsync(on_legacy, from, SMALL, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaDeviceSynchronize());
    return finish(!broken && holds(on_later, SMALL, WANTED) && holds(on_legacy, SMALL, WANTED) &&
                  device_holds(to, SMALL, WANTED));
}
