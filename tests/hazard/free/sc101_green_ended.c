// expect: SC101 action=deferred kind=registered certainty=observed
//
// A green context goes, and its stream, while a copy is at work there. The driver waits for
// nothing, and takes none of their handles again.
#include "green.h"

int main(void)
{
    driver_start();
    CUgreenCtx green = green_context();
    CUstream stream = green_stream(green);
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuGreenCtxDestroy(green));
    if (fixed)
        CHECK(cuCtxSynchronize());
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
