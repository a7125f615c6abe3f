// expect: SC101 action=deferred kind=registered certainty=observed event=free
//
// Nothing is freed while the copy is in flight, which waits for nothing, and then its source.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemFreeHost(NULL));
    CHECK(cuMemFree(0));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
