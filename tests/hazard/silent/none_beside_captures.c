// expect: none
//
// One thread captures two streams at a time, and a third that an event has joined to the first:
// what it issues there is captured, though not always into the graph that reads it.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t joined = new_stream();
    cudaStream_t other = new_stream();
    cudaEvent_t fork = new_event();
    cudaEvent_t join = new_event();
    void *source = pinned_block(SMALL, WANTED);
    void *first = device_block(SMALL, 0);
    void *second = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaStreamBeginCapture(other, cudaStreamCaptureModeRelaxed));
    CHECK(cudaEventRecord(fork, stream));
    CHECK(cudaStreamWaitEvent(joined, fork, 0));
    CHECK(cudaMemcpyAsync(first, source, SMALL, cudaMemcpyHostToDevice, joined));
    CHECK(cudaMemcpyAsync(second, source, SMALL, cudaMemcpyHostToDevice, other));
    CHECK(cudaEventRecord(join, joined));
    CHECK(cudaStreamWaitEvent(stream, join, 0));
    capture_copy(result, first, stream);
    capture_copy(result, second, stream);
    cudaGraphExec_t uploads = end_capture(other, 1);
    cudaGraphExec_t exec = end_capture(stream, 3);

    for (int i = 0; i < 3; i++) {
        replay(uploads, other);
        replay(exec, stream);
    }
    return finish(!broken && device_holds(result, SMALL, WANTED));
}
