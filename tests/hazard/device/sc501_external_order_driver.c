// expect: SC501 action=ordered kind=device direction=H2D event=cuMemcpyDtoHAsync_v2
// options: device=1
// needs: sim
//
// A stream uploads and signals, and another one downloads the same device memory. The racy build
// has forgotten that the second is to wait for the semaphore.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream up = driver_new_stream(), down = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    void *source = driver_pinned_block(SMALL, WANTED), *target = driver_pinned_block(SMALL, 0);

    driver_busy(up);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, up));
    stream_signals(&timeline, 1, up);
    if (fixed)
        stream_waits(&timeline, 1, down);
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, down));

    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, WANTED));
}
