// expect: SC501 action=ordered kind=device event=cuMemcpyHtoDAsync_v2 direction=none
// options: device=1:kernels=order
//
// The next input is uploaded while a kernel in another stream is still to read the last one.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream upload = driver_new_stream(), compute = driver_new_stream();
    CUevent computed = driver_new_event();
    void *next = driver_pinned_block(SMALL, FOREIGN);
    CUdeviceptr input = driver_device_block(SMALL, WANTED);
    CUdeviceptr result = driver_device_block(SMALL, 0);

    driver_busy(compute);
    launch_copy(kernel, result, input, compute);
    CHECK(cuEventRecord(computed, compute));
    if (fixed)
        CHECK(cuStreamWaitEvent(upload, computed, 0));
    CHECK(cuMemcpyHtoDAsync(input, next, SMALL, upload));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
