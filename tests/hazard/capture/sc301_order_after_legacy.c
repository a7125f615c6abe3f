// expect: SC301 action=rerouted certainty=observed
//
// As sc301_order_after, and the first to go on with the result is the legacy stream.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = fixed ? new_stream() : blocking_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaLaunchHostFunc(0, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, 0));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    bool right = holds(target, SMALL, WANTED);
    replay(exec, stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
