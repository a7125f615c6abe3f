// expect: SC204 action=ordered kind=pinned direction=D2H event=cuLaunchKernel
// options: kernels=order
// needs: preload
//
// A kernel reads pinned memory that a copy on another stream has still to fill.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream compute = driver_new_stream(), down = driver_new_stream();
    CUevent arrived = driver_new_event();
    CUdeviceptr result = driver_device_block(SMALL, 0), next = driver_device_block(SMALL, WANTED);
    void *input = driver_pinned_block(SMALL, FOREIGN);

    driver_busy(down);
    CHECK(cuMemcpyDtoHAsync(input, next, SMALL, down));
    CHECK(cuEventRecord(arrived, down));
    if (fixed)
        CHECK(cuStreamWaitEvent(compute, arrived, 0));
    launch_copy(kernel, result, address_of(input), compute);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
