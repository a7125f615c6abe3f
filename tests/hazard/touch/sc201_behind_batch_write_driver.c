// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A batch of memory operations only writes a word, and waits for nobody. The source of a copy
// behind it is overwritten too early.
#include "signals.h"
#include "touch.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);

    write_by_batch(new_words(), 1, stream);
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    poke(source, 5);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
