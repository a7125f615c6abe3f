// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A stream waits for a word, and the whole context for an event behind that. The host waits for
// that stream. The source of a copy in a third stream is overwritten too early.
#include "touch.h"
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUevent waited = driver_new_event();
    CUstream waiter = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 1;
    CHECK(cuCtxGetCurrent(&context));

    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(waited, waiter));
    CHECK(cuCtxWaitEvent(context, waited));
    CHECK(cuEventSynchronize(waited));
    CUstream stream = driver_new_stream();
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    poke(source, 5);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
