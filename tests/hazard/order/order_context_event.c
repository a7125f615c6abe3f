// expect: SC101 action=deferred kind=registered certainty=observed
//
// Established by an event of the context, which stands for all of its streams, and on one whose
// wait for another such event the racy build does not have.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUevent all = driver_new_event();
    CUevent last = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuCtxRecordEvent(context, all));
    if (fixed)
        CHECK(cuCtxWaitEvent(context, all));
    CUstream other = driver_new_stream(); /* which waits from the start */
    CHECK(cuEventRecord(last, other));
    CHECK(cuEventSynchronize(last));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
