// expect: SC201 action=stalled kind=registered certainty=observed
//
// The driver API, without a runtime in the process.
#include "touch.h"
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = page_block(SMALL, WANTED);
    CHECK(cuMemHostRegister(source, SMALL, 0));

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(source, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(source, SMALL, FOREIGN));
}
