// expect: none
// options: device=1:kernels=order
//
// Kernels and copies of several streams that use the same memory in order, other bytes, or merely
// read it.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream upload = driver_new_stream(), compute = driver_new_stream(),
             down = driver_new_stream();
    CUevent uploaded = driver_new_event(), computed = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED), *target = driver_pinned_block(SMALL, 0);
    CUdeviceptr input = driver_device_block(2 * SMALL, FOREIGN);
    CUdeviceptr result = driver_device_block(SMALL, 0), other = driver_device_block(SMALL, 0);

    for (int turn = 0; turn < 3; turn++) {
        CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
        CHECK(cuEventRecord(uploaded, upload));
        CHECK(cuStreamWaitEvent(compute, uploaded, 0));
        launch_copy(kernel, result, input, compute);
        launch_copy(kernel, other, input, compute);
        launch_copy(kernel, other, input + SMALL, down); /* SC501 knows nothing of two kernels */
        CHECK(cuEventRecord(computed, compute));
        CHECK(cuStreamWaitEvent(down, computed, 0));
        CHECK(cuMemcpyDtoHAsync(target, result, SMALL, down));
        CHECK(cuMemcpyDtoHAsync(target, input, SMALL, down)); /* reads beside a kernel that reads */
        CHECK(cuEventRecord(computed, down));
        CHECK(cuStreamWaitEvent(upload, computed, 0));
    }
    CHECK(cuStreamSynchronize(upload));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, down)); /* after the host has waited */
    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, WANTED) && driver_device_holds(result, SMALL, WANTED));
}
