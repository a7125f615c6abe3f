// expect: none
//
// Counters of the steps before are read back, and weights are saved, while the next graph is
// captured, whose kernels use both.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    CUfunction kernel = copying_kernel();
    void *weights = device_block(SMALL, WANTED);
    void *counters = device_block(SMALL, FOREIGN);
    void *saved = pinned_block(SMALL, 0);
    void *seen = pinned_block(SMALL, 0);

    for (int i = 0; i < 2; i++) {
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        launch_copy(kernel, (CUdeviceptr)counters, (CUdeviceptr)weights, stream);
        CHECK(cudaMemcpyAsync(seen, counters, SMALL, cudaMemcpyDeviceToHost, downloads));
        CHECK(cudaMemcpy(saved, weights, SMALL, cudaMemcpyDeviceToHost));
        cudaGraphExec_t exec = end_capture(stream, 1);
        CHECK(cudaStreamSynchronize(downloads));
        replay(exec, stream);
        replay(exec, stream);
    }
    return finish(!broken && holds(seen, SMALL, WANTED) && holds(saved, SMALL, WANTED));
}
