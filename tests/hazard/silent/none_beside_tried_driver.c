// expect: none
//
// Two kernels that do the same are tried beside the capture, on the memory that a captured copy has
// still to upload; what they make is nobody's. The graph has one of them.
#include "left_out.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUfunction variant = copying_kernel(); /* of another module */
    CUstream stream = driver_new_stream();
    CUstream trials = driver_new_stream();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr input = driver_device_block(SMALL, 0);
    CUdeviceptr result = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, stream));
    launch_copy(variant, result, input, trials);
    launch_copy(kernel, result, input, trials);
    CHECK(cuStreamSynchronize(trials));
    launch_copy(kernel, result, input, stream);
    CUgraphExec exec = driver_end_capture(stream, 2);

    driver_replay(exec, stream);
    fill(source, SMALL, NEXT);
    driver_replay(exec, stream);
    return finish(!broken && driver_device_holds(result, SMALL, NEXT));
}
