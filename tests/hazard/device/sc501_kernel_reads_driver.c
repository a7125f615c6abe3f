// expect: SC501 action=ordered kind=device event=cuLaunchKernel direction=H2D certainty=observed
// options: device=1:kernels=order
//
// A kernel is launched with the address of what another stream is still to upload.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream upload = driver_new_stream(), compute = driver_new_stream();
    CUevent uploaded = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr input = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr result = driver_device_block(SMALL, 0);

    driver_busy(upload);
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
    CHECK(cuEventRecord(uploaded, upload));
    if (fixed)
        CHECK(cuStreamWaitEvent(compute, uploaded, 0));
    launch_copy(kernel, result, input, compute);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
