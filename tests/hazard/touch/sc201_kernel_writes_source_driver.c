// expect: SC201 action=snapshotted kind=pinned direction=H2D
// options: kernels=report
// needs: preload
//
// The program writes the source of a small copy, and then launches a kernel behind the copy that
// writes the source again. What the program has done is found when the kernel is launched, since
// later nobody could tell.
#include "kernel.h"

enum { SOURCE_BYTES = 4096 };

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0), result = driver_device_block(SMALL, WANTED);
    void *source = driver_pinned_block(SMALL, WANTED);

    CHECK(cuMemcpyHtoDAsync(to, source, SOURCE_BYTES, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SOURCE_BYTES, FOREIGN);
    launch_copy(kernel, address_of(source), result, stream);

    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(to, SOURCE_BYTES, WANTED) && holds(source, SMALL, WANTED));
}
