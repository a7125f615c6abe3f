// expect: SC204 action=ordered kind=pinned direction=none event=cuMemcpyDtoHAsync_v2
// options: kernels=order
// needs: preload
//
// A copy on another stream overwrites pinned memory that a kernel is still to read.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream compute = driver_new_stream(), down = driver_new_stream();
    CUevent computed = driver_new_event();
    CUdeviceptr result = driver_device_block(SMALL, 0), next = driver_device_block(SMALL, FOREIGN);
    void *input = driver_pinned_block(SMALL, WANTED);

    driver_busy(compute);
    launch_copy(kernel, result, address_of(input), compute);
    CHECK(cuEventRecord(computed, compute));
    if (fixed)
        CHECK(cuStreamWaitEvent(down, computed, 0));
    CHECK(cuMemcpyDtoHAsync(input, next, SMALL, down));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
