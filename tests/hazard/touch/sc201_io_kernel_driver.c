// expect: SC201 action=stalled kind=registered certainty=observed direction=none event=read
// in-place: none
// in-place: wrong
// options: kernels=order
//
// The next batch is read from a file into registered memory that a kernel is still to read.
#include "files.h"

#include "kernel.h"
#include "touch.h"

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr result = driver_device_block(SMALL, 0);
    void *input = page_block(SMALL, WANTED);
    int fd = filled_file(SMALL, FOREIGN);
    CHECK(cuMemHostRegister(input, SMALL, 0));

    driver_busy(stream);
    launch_copy(kernel, result, address_of(input), stream);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    ALL(read(fd, input, SMALL), SMALL);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(result, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
