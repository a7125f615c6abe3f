// expect: SC201 action=reported kind=pinned certainty=observed direction=none event=memory-write
// in-place: none
// options: kernels=report
//
// A store into pinned memory that a kernel is still to read. That is only to be told: nobody waits.
// (It stores what was there, so that the kernel finds the right bytes all the same.)
#include "kernel.h"
#include "touch.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    unsigned char *input = driver_pinned_block(SMALL, WANTED);

    driver_busy(stream);
    launch_copy(kernel, result, address_of(input), stream);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    *(volatile unsigned char *)input = pattern(WANTED, 0);
    bool waited = cuStreamQuery(stream) != CUDA_ERROR_NOT_READY;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && waited == fixed);
}
