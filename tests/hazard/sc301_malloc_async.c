// expect: SC301 action=rerouted certainty=observed event=cuMemAllocAsync
//
// Memory is allocated in the order of the legacy stream, instead of a stream of its own, while a
// blocking stream captures. The capture writes it.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t allocations = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, WANTED);
    void *to = NULL;

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    TRY(cudaMallocAsync(&to, SMALL, allocations));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(allocations));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
