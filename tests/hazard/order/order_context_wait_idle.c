// expect: SC101 action=deferred kind=registered certainty=observed
//
// The context waits for an event behind the copy, and the host then for a stream of it. A stream
// joins what its context waits for with its next operation, here a memset. The record of an event
// is none: in the racy build the synchronise behind it returns at once.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUstream idle = driver_new_stream();
    CUevent copied = driver_new_event();
    CUevent last = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuEventRecord(copied, stream));
    CHECK(cuCtxWaitEvent(context, copied));
    if (fixed)
        CHECK(cuMemsetD8Async(other, 1, SMALL, idle));
    else
        CHECK(cuEventRecord(last, idle));
    CHECK(cuStreamSynchronize(idle));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
