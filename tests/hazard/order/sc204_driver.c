// expect: SC204 action=ordered kind=pinned certainty=observed
//
// The same through the driver API.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream down = driver_new_stream();
    CUstream up = driver_new_stream();
    CUevent arrived = NULL;
    CHECK(cuEventCreate(&arrived, CU_EVENT_DISABLE_TIMING));
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);

    driver_busy(down);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, down));
    CHECK(cuEventRecord(arrived, down));
    if (fixed)
        CHECK(cuStreamWaitEvent(up, arrived, 0));
    CHECK(cuMemcpyHtoDAsync(to, between, SMALL, up));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
