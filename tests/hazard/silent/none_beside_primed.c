// expect: none
//
// Each launch uses what the one before has uploaded, and uploads for the next. For the first one
// the program uploads itself, in the middle of the capture.
#include "left_out.h"

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, 1);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(result, input, stream);
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t exec = end_capture(stream, 2);

    CHECK(cudaDeviceSynchronize());
    for (unsigned step = 1; step < 6; step++) {
        fill(source, SMALL, step + 1);
        replay(exec, stream);
        right = device_holds(result, SMALL, step) && right;
    }
    return finish(!broken && right);
}
