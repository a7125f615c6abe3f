// expect: SC105 action=reported kind=pinned certainty=observed direction=none event=cuMemFreeHost
// options: kernels=report
// needs: preload
//
// Pinned memory is freed while a kernel has its address, launched cooperatively. That is only to be
// told: the driver waits.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr address = address_of(input);
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&result, &address, &count};

    driver_busy(stream);
    CHECK(cuLaunchCooperativeKernel(kernel, count / 256, 1, 1, 256, 1, 1, 0, stream, parameters));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(input));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
