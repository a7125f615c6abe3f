// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyDtoD_v2
//
// Pinned memory by its unified address, in a copy between device pointers.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);

    driver_busy(stream);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoD(to, (CUdeviceptr)(uintptr_t)between, SMALL));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
