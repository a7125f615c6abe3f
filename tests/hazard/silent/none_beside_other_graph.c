// expect: none
//
// A buffer is cleared beside the capture of the graph that reads it; another graph fills it before
// each launch.
#include "left_out.h"

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    cudaGraphExec_t fills = end_capture(stream, 1);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemset(input, 0, SMALL));
    capture_copy(result, input, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);
    CHECK(cudaDeviceSynchronize()); /* or the clearing races the filling */

    for (unsigned step = 1; step < 6; step++) {
        fill(source, SMALL, step);
        replay(fills, stream);
        replay(exec, stream);
        right = device_holds(result, SMALL, step) && right;
    }
    return finish(!broken && right);
}
