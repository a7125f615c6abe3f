// expect: SC101 action=deferred certainty=observed direction=H2D
// needs: sim
//
// A stream signals an external semaphore behind a copy. The racy build frees the source before it
// has heard of that.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    stream_signals(&timeline, 1, stream);
    if (fixed) {
        party_waits(&timeline, 1);
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
