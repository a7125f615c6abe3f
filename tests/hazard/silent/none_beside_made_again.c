// expect: none
//
// What ran beside a capture is no input of its launches: the graph itself writes the memory before
// it reads it, by a copy or by a kernel; and what ran beside the capture reads what ran beside it.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *other = pinned_block(SMALL, FOREIGN);
    void *seen = pinned_block(SMALL, 0);
    void *scratch = device_block(SMALL, 0);
    void *made = device_block(SMALL, 0);
    void *apart = device_block(SMALL, FOREIGN);
    void *result = device_block(SMALL, 0);
    CUfunction kernel = copying_kernel();

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemset(scratch, 0, SMALL));
    CHECK(cudaMemcpyAsync(scratch, source, SMALL, cudaMemcpyHostToDevice, stream));
    capture_copy(result, scratch, stream);
    launch_copy(kernel, (CUdeviceptr)made, (CUdeviceptr)result, stream);
    launch_copy(kernel, (CUdeviceptr)made, (CUdeviceptr)apart, 0);
    CHECK(cudaMemcpyAsync(seen, made, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaMemcpyAsync(scratch, other, SMALL, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpy(other, scratch, SMALL, cudaMemcpyDeviceToHost));
    cudaGraphExec_t exec = end_capture(stream, 4);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && holds(seen, SMALL, WANTED) && holds(other, SMALL, FOREIGN));
}
