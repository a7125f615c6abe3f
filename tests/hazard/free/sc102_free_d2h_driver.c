// expect: SC102 action=deferred kind=registered certainty=observed
//
// The same through the driver API.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *target = driver_registered_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(target));
    }
    free(target);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
