// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The driver API, without a runtime in the process.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    void *target = driver_pinned_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(target, SMALL, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
