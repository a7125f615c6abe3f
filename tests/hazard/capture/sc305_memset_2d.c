// expect: SC305 action=reported kind=device certainty=latent event=cuMemsetD2D8Async
//
// Some columns of a matrix are cleared on another stream within the capture of a kernel that counts
// in them: each launch goes on from where the one before has ended.
#include "left_out.h"

enum { WIDTH = 64, PITCH = 256, ROWS = 256 };

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    CUfunction kernel = copying_kernel();
    void *terms = device_block(SMALL, WANTED);
    void *sums = device_block(SMALL, FOREIGN);
    void *before = device_block(SMALL, FOREIGN);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMemset2DAsync(sums, PITCH, 0, WIDTH, ROWS, fixed ? stream : other));
    CHECK(cudaMemcpy2DAsync(before, WIDTH, sums, PITCH, WIDTH, ROWS, cudaMemcpyDeviceToDevice,
                            stream));
    launch_copy(kernel, (CUdeviceptr)sums, (CUdeviceptr)terms, stream);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 3 : 2);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    bool right = device_is(before, WIDTH * ROWS, 0);
    replay(exec, stream);
    right = right && device_is(before, WIDTH * ROWS, 0) == fixed;
    return finish(!broken && right);
}
