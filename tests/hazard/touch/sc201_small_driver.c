// expect: SC201 action=snapshotted kind=pinned
//
// A small copy by cuMemcpyAsync, which takes two addresses of either kind.
#include "twin_driver.h"

enum { PARAMETERS = 128 };

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(PARAMETERS, 0);
    void *source = driver_pinned_block(PARAMETERS, WANTED);

    CHECK(cuMemcpyAsync(device, (CUdeviceptr)(uintptr_t)source, PARAMETERS, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, PARAMETERS, FOREIGN);

    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, PARAMETERS, WANTED));
}
