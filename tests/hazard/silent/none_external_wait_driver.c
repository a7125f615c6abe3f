// expect: none
// needs: sim
// options: stall_limit=60s
//
// Copies behind a wait for an external semaphore: the program fills the source of one and looks at
// the target of another one when the calls have returned, and only then the other party signals.
#include "external.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, WANTED);
    void *source = driver_pinned_block(SMALL, 0), *target = driver_pinned_block(SMALL, FOREIGN);

    stream_waits(&timeline, 3, stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemcpyDtoHAsync(target, from, SMALL, stream));
    fill(source, SMALL, WANTED);
    bool right = holds(target, SMALL, FOREIGN);
    party_signals(&timeline, 3);

    CHECK(cuStreamSynchronize(stream));
    return finish(right && holds(target, SMALL, WANTED) &&
                  driver_device_holds(device, SMALL, WANTED));
}
