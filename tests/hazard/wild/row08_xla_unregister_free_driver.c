// expect: SC103 kind=registered certainty=observed
//
// docs/wild-bugs.md, row 8, its other path: the buffer is unregistered and freed with a copy in
// flight.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *buffer = driver_registered_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(buffer, device, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemHostUnregister(buffer));
    free(buffer);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
