// expect: none
// summary: beside_unjudged=1
//
// A buffer that no captured work uses is cleared within the capture, by a memset that runs once.
// Whether each launch should clear it nobody can tell: it is counted, and nobody is accused.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *counted = device_block(SMALL, FOREIGN);
    void *input = device_block(SMALL, WANTED);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemsetAsync(counted, 0, SMALL, 0));
    capture_copy(result, input, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    return finish(!broken && device_is(counted, SMALL, 0) && device_holds(result, SMALL, WANTED));
}
