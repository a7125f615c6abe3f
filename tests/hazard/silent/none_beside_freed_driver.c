// expect: none
//
// Memory is used beside the capture and freed there. What the capture uses is allocated then, at
// the same addresses.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    void *source = driver_pinned_block(SMALL, FOREIGN);
    CUdeviceptr input = driver_device_block(SMALL, WANTED);
    CUdeviceptr scratch = driver_device_block(SMALL, 0);
    CUdeviceptr result = 0;

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyHtoDAsync(scratch, source, SMALL, other));
    CHECK(cuStreamSynchronize(other));
    CHECK(cuMemFree(scratch));
    CHECK(cuMemAlloc(&result, SMALL));
    launch_copy(kernel, result, input, stream);
    CUgraphExec exec = driver_end_capture(stream, 1);

    driver_replay(exec, stream);
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(result, SMALL, WANTED));
}
