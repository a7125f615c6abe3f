// expect: SC201 action=stalled kind=pinned certainty=observed
//
// A stream waits for an event of another one, which waits for a word that the host writes only
// behind the event. The source of a copy in the first stream is overwritten too early.
#include "touch.h"
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUevent before = driver_new_event();
    CUstream waiter = driver_new_stream();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, WANTED);
    void *other_source = driver_pinned_block(SMALL, WANTED);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;

    CHECK(cuMemcpyHtoDAsync(other, other_source, SMALL, waiter));
    CHECK(cuEventRecord(before, waiter));
    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamWaitEvent(stream, before, 0));
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    poke(source, 5);

    *go = 1;
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
