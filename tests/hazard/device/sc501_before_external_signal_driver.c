// expect: SC501 action=ordered kind=device direction=memset certainty=observed
// options: device=1
// needs: sim
//
// Device memory is set, and an external semaphore is signalled behind that. The racy build reads
// the memory in another stream before it has heard of the signal.
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
    if (fixed)
        party_waits(&timeline, 1);
    const unsigned char *to = download(device);

    CHECK(cuCtxSynchronize());
    return finish(is_all(to, 5));
}
