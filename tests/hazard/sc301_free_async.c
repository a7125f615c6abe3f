// expect: SC301 action=rerouted certainty=observed event=cuMemFreeAsync
//
// Memory is freed in the order of the legacy stream, instead of a stream of its own, while a
// blocking stream captures.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t allocations = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *block = NULL;
    CHECK(cudaMallocAsync(&block, SMALL, allocations));
    CHECK(cudaStreamSynchronize(allocations));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaFreeAsync(block, allocations));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(allocations));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
