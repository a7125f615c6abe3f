// expect: SC301 action=rerouted certainty=observed event=cuMemFreeAsync
//
// Memory is freed in the order of the legacy stream while a blocking stream captures, instead of
// afterwards.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *block = NULL;
    CHECK(cudaMallocAsync(&block, SMALL, 0));
    CHECK(cudaStreamSynchronize(0));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFreeAsync(block, 0));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaFreeAsync(block, 0));

    CHECK(cudaStreamSynchronize(0));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
