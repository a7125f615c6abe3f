// expect: none
// options: device=1
// needs: sim
//
// Device memory is set, and an external semaphore is signalled behind that. The program hears of
// the signal from the other party alone, and reads the memory in another stream.
#include "external.h"
#include "signals.h"

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream setter = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);

    driver_busy(setter);
    CHECK(cuMemsetD8Async(device, 5, SMALL, setter));
    stream_signals(&timeline, 1, setter);
    spin_behind(setter);
    party_waits(&timeline, 1);
    bool right = download_is(device, 5);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
