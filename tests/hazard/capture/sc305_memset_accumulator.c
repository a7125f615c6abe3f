// expect: SC305 action=reported kind=device certainty=latent event=cuMemsetD8_v2
//
// An accumulator is cleared by a plain cudaMemset within the capture, which runs once: each launch
// goes on from where the one before has ended.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    CUfunction kernel = copying_kernel();
    void *terms = device_block(SMALL, WANTED);
    void *sum = device_block(SMALL, FOREIGN);
    void *before = device_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    if (fixed)
        CHECK(cudaMemsetAsync(sum, 0, SMALL, stream));
    else
        CHECK(cudaMemset(sum, 0, SMALL));
    capture_copy(before, sum, stream); /* what a step adds to */
    launch_copy(kernel, (CUdeviceptr)sum, (CUdeviceptr)terms, stream);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 3 : 2);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    bool right = device_is(before, SMALL, 0);
    replay(exec, stream);
    right = right && device_is(before, SMALL, 0) == fixed;
    return finish(!broken && right);
}
