// expect: SC501 action=reported kind=device event=cuLaunchKernel direction=memset
// options: kernels=report
//
// A kernel writes into what another stream is still to clear. It is told of and not put in order:
// the racy build ends with zeros.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream clear = driver_new_stream(), compute = driver_new_stream();
    CUdeviceptr input = driver_device_block(SMALL, WANTED);
    CUdeviceptr result = driver_device_block(SMALL, FOREIGN);

    driver_busy(clear);
    CHECK(cuMemsetD8Async(result, 0, SMALL, clear));
    if (fixed)
        CHECK(cuStreamSynchronize(clear));
    launch_copy(kernel, result, input, compute);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) == fixed);
}
