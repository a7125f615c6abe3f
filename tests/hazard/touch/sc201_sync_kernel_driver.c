// expect: SC201 action=stalled kind=pinned certainty=observed direction=none event=cuMemcpyDtoH_v2
// options: kernels=order
//
// A synchronous copy overwrites pinned memory that a kernel is still to read.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0), next = driver_device_block(SMALL, FOREIGN);
    void *input = driver_pinned_block(SMALL, WANTED);

    driver_busy(stream);
    launch_copy(kernel, result, address_of(input), stream);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(input, next, SMALL));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
