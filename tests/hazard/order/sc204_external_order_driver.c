// expect: SC204 action=ordered certainty=observed direction=D2H event=cuMemcpyHtoDAsync_v2
// needs: sim
// needs: preload
//
// A stream brings a buffer from the device and signals, and another one carries the buffer on. The
// racy build has forgotten that the second is to wait for the semaphore.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream down = driver_new_stream(), up = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED), to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);

    driver_busy(down);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, down));
    stream_signals(&timeline, 1, down);
    if (fixed)
        stream_waits(&timeline, 1, up);
    CHECK(cuMemcpyHtoDAsync(to, between, SMALL, up));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
