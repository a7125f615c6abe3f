// expect: none
//
// Buffers that are cut out of one allocation. Kernels are given where it begins: a captured one
// makes what was cleared beside the capture; another clears itself what captured work reads, before
// each launch.
#include "left_out.h"

static void launch_copy_of(unsigned count, CUfunction kernel, CUdeviceptr to, CUdeviceptr from,
                           CUstream stream)
{
    void *parameters[] = {&to, &from, &count};
    CHECK(cuLaunchKernel(kernel, count / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL));
}

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    CUdeviceptr made = driver_device_block(2 * SMALL, FOREIGN);
    CUdeviceptr refilled = driver_device_block(2 * SMALL, FOREIGN);
    CUdeviceptr input = driver_device_block(2 * SMALL, WANTED);
    CUdeviceptr result = driver_device_block(SMALL, 0);
    CUdeviceptr copied = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemsetD8(made + SMALL, 0, SMALL));
    CHECK(cuMemsetD8(refilled + SMALL, 0, SMALL));
    CHECK(cuMemcpyDtoDAsync(copied, refilled + SMALL, SMALL, stream));
    launch_copy_of(2 * SMALL, kernel, made, input, stream);
    CHECK(cuMemcpyDtoDAsync(result, made + SMALL, SMALL, stream));
    CUgraphExec exec = driver_end_capture(stream, 3);

    CHECK(cuCtxSynchronize());
    for (int i = 0; i < 3; i++) {
        launch_copy_of(2 * SMALL, kernel, refilled, input, other);
        CHECK(cuStreamSynchronize(other));
        driver_replay(exec, stream);
    }
    unsigned char *wanted = (unsigned char *)filled_block(2 * SMALL, WANTED) + SMALL;
    CHECK(cuMemcpyDtoH(image_of(SMALL), result, SMALL));
    bool right = memcmp(image_of(SMALL), wanted, SMALL) == 0;
    CHECK(cuMemcpyDtoH(image_of(SMALL), copied, SMALL));
    right = right && memcmp(image_of(SMALL), wanted, SMALL) == 0;
    return finish(!broken && right);
}
