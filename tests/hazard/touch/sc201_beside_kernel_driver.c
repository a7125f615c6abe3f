// expect: SC201 action=snapshotted kind=pinned direction=H2D
// options: kernels=report
// needs: preload
//
// A kernel has the address of the source of a small copy, which nothing orders: it reads what the
// copy reads. So what differs in the end is what the program has written.
#include "kernel.h"

enum { SOURCE_BYTES = 4096 };

int main(void)
{
    driver_start();
    CUfunction kernel = copying_kernel();
    CUstream stream = driver_new_stream(), other = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0), result = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);

    CHECK(cuMemcpyHtoDAsync(to, source, SOURCE_BYTES, stream));
    launch_copy(kernel, result, address_of(source), other);
    CHECK(cuStreamSynchronize(other));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SOURCE_BYTES, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SOURCE_BYTES, WANTED) &&
                  driver_device_holds(result, SMALL, WANTED));
}
