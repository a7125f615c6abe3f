// expect: SC201 action=stalled kind=pinned certainty=observed direction=none event=memory-write
// in-place: none
// in-place: wrong
// options: kernels=order
//
// The next input is written into pinned memory that a kernel is still to read (TensorRT-LLM#16088).
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
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
