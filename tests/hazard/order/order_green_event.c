// expect: SC101 action=deferred kind=registered certainty=observed
//
// An event of the primary context stands for the work of its green ones. In the racy build it is
// one of the green context, whose streams the copy is not on.
#include "green.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUgreenCtx busy_one = green_context();
    CUgreenCtx idle_one = green_context();
    CUstream stream = green_stream(busy_one);
    CUstream idle = green_stream(idle_one);
    CUevent all = driver_new_event();
    CUevent last = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuCtxRecordEvent(context, all));
    else
        CHECK(cuGreenCtxRecordEvent(idle_one, all));
    CHECK(cuGreenCtxWaitEvent(idle_one, all));
    CHECK(cuEventRecord(last, idle));
    CHECK(cuEventSynchronize(last)); /* it waits for that, and the stream goes on not to know */
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
