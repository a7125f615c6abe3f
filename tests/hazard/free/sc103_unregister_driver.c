// expect: SC103 kind=registered certainty=observed
//
// The same through the driver API.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemHostUnregister(source));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    bool right = driver_device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN);
    free(source);
    return finish(right);
}
