// expect: SC101 action=deferred certainty=observed event=free
//
// Between the free and the end of the copy nothing is freed, twice: that ends nothing.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);
    CHECK(cuMemFreeHost(NULL));
    CHECK(cuMemFree(0));
    sleep_patiently(BUSY_US / 4); /* as long as the library needs to give memory back */

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuStreamSynchronize(stream));
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
