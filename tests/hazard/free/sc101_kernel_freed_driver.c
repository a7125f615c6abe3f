// expect: SC101 action=deferred kind=registered certainty=observed direction=none event=free
// options: kernels=order
//
// Registered memory is freed while a kernel that has its address is still to read it.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    launch_copy(kernel, result, address_of(input), stream);
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(input));
    }
    free(input);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
