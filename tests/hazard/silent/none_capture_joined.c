// expect: none
//
// A capture with a second stream, forked and joined by events: both are blocking streams, both
// capture, and nothing touches the legacy stream meanwhile.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t side = blocking_stream();
    cudaEvent_t fork = new_event();
    cudaEvent_t join = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    void *device = device_block(SMALL, 0);
    void *copy = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(device, source, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(side, fork, 0));
    CHECK(cudaMemcpyAsync(target, device, SMALL, cudaMemcpyDeviceToHost, side));
    capture_copy(copy, device, stream);
    CHECK(cudaEventRecord(join, side));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    cudaGraphExec_t exec = end_capture(stream, 3);

    replay(exec, stream);
    bool right = holds(target, SMALL, WANTED) && device_holds(copy, SMALL, WANTED);
    fill(source, SMALL, FOREIGN);
    replay(exec, stream);
    return finish(!broken && right && holds(target, SMALL, FOREIGN) &&
                  device_holds(copy, SMALL, FOREIGN));
}
