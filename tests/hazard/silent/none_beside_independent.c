// expect: none
//
// Work beside a capture that has nothing to do with it: uploads, memsets, downloads and kernels on
// the legacy stream and on another one, of memory that no captured operation uses, or that both
// merely read; and kernels whose addresses lie beside the captured ones.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    CUfunction kernel;
    void *source = pinned_block(SMALL, FOREIGN);
    void *seen = pinned_block(SMALL, 0);
    char *weights = device_block(2 * SMALL, WANTED);
    char *pair = device_block(2 * SMALL, 0);
    char *result = device_block(SMALL, 0);
    kernel = copying_kernel();

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(pair + SMALL, source, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpy(seen, weights, SMALL, cudaMemcpyDeviceToHost));
    capture_copy(pair, weights, stream);
    launch_copy(kernel, (CUdeviceptr)result, (CUdeviceptr)weights, stream);
    launch_copy(kernel, (CUdeviceptr)(pair + SMALL), (CUdeviceptr)weights, other);
    CHECK(cudaMemcpyAsync(seen, result, SMALL, cudaMemcpyDeviceToHost, other));
    CHECK(cudaMemcpyAsync(source, pair + SMALL, SMALL, cudaMemcpyDeviceToHost, other));
    CHECK(cudaMemsetAsync(pair + SMALL, 1, SMALL, other));
    cudaGraphExec_t exec = end_capture(stream, 2);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(pair, SMALL, WANTED) &&
                  device_holds(result, SMALL, WANTED) && device_is(pair + SMALL, SMALL, 1));
}
