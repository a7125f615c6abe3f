// expect: SC502 action=ordered kind=device event=cuMemFreeAsync direction=none certainty=observed
// options: kernels=order
//
// Memory of a pool is freed in one stream while a kernel in another is still to read it.
#include "kernel.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUevent computed = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED), *next = driver_pinned_block(SMALL, FOREIGN);
    CUdeviceptr input = 0, owner = 0;
    CUdeviceptr result = driver_device_block(SMALL, 0);

    CHECK(cuMemAllocAsync(&input, SMALL, first));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, first));
    CHECK(cuStreamSynchronize(first));
    driver_busy(second);
    launch_copy(kernel, result, input, second);
    CHECK(cuEventRecord(computed, second));
    if (fixed)
        CHECK(cuStreamWaitEvent(first, computed, 0));
    CHECK(cuMemFreeAsync(input, first));
    CHECK(cuMemAllocAsync(&owner, SMALL, first));
    CHECK(cuMemcpyHtoDAsync(owner, next, SMALL, first));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED));
}
