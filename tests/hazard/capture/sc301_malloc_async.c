// expect: SC301 action=rerouted certainty=observed event=cuMemAllocAsync
//
// Memory is allocated in the order of the legacy stream while a blocking stream captures, instead
// of before. The capture writes it.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = NULL;

    if (fixed)
        CHECK(cudaMallocAsync(&to, SMALL, 0));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (!fixed)
        TRY(cudaMallocAsync(&to, SMALL, 0));
    capture_copy(to, from, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(0));
    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
