// expect: SC101 action=deferred kind=registered certainty=observed
//
// The stream is a green context's, which is never current. A wait for the primary context is one
// for it as well.
#include "green.h"

int main(void)
{
    driver_start();
    CUstream stream = green_stream(green_context());
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuCtxSynchronize());
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
