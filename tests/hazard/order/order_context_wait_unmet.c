// expect: SC204 action=ordered kind=pinned
//
// Established by a wait of a context that nothing has been done in yet. The racy build has it wait
// for an event that stands before the copy.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext primary = NULL;
    CUcontext fresh = NULL;
    CUstream stream = driver_new_stream();
    CUevent copied = driver_new_event();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    void *target = driver_pinned_block(SMALL, 0);
    CHECK(cuCtxGetCurrent(&primary));
    CHECK(cuCtxCreate(&fresh, NULL, 0, 0));
    CHECK(cuCtxSetCurrent(primary));

    driver_busy(stream);
    if (!fixed)
        CHECK(cuEventRecord(copied, stream));
    CHECK(cuMemcpyDtoHAsync(target, from, SMALL, stream));
    if (fixed)
        CHECK(cuEventRecord(copied, stream));
    CHECK(cuCtxWaitEvent(fresh, copied));

    CHECK(cuCtxSetCurrent(fresh));
    CUstream behind = driver_new_stream();
    CUdeviceptr to = 0;
    CHECK(cuMemAlloc(&to, SMALL));
    CHECK(cuMemcpyHtoDAsync(to, target, SMALL, behind));
    CHECK(cuCtxSynchronize());
    bool right = driver_device_holds(to, SMALL, WANTED);
    CHECK(cuCtxSetCurrent(primary));
    CHECK(cuCtxSynchronize());
    return finish(right && holds(target, SMALL, WANTED));
}
