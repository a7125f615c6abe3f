// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by an event of the context. The racy build records it before the copy is issued.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUevent all = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));

    if (!fixed)
        CHECK(cuCtxRecordEvent(context, all));
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuCtxRecordEvent(context, all));
    CHECK(cuEventSynchronize(all));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
