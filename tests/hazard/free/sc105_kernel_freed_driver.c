// expect: SC105 action=deferred kind=pinned certainty=observed direction=none event=cuMemFreeHost
// options: kernels=order
// needs: preload
//
// Pinned memory is freed while a kernel that has its address is still to read it.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_pinned_block(SMALL, WANTED);

    driver_busy(stream);
    launch_copy(kernel, result, address_of(input), stream);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(input));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
