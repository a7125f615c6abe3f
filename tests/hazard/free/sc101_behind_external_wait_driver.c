// expect: SC101 action=deferred certainty=observed direction=H2D
// needs: sim
//
// The source of a copy is freed while that waits for an external semaphore. The other party signals
// later.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    stream_waits(&timeline, 1, stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed) {
        party_signals(&timeline, 1);
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    party_signals_later(&timeline, 1);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
