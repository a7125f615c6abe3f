// expect: SC204 action=ordered kind=pinned certainty=observed
//
// A blocking stream waits for a word, and the legacy stream comes after it. The host waits for the
// first one. A download in a blocking stream, behind the legacy one, and an upload of the same
// memory in a stream of its own are in no order.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream waiter = NULL;
    CUstream down = NULL;
    CUstream up = driver_new_stream();
    CUevent arrived = driver_new_event();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr cleared = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 1;
    CHECK(cuStreamCreate(&waiter, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&down, CU_STREAM_DEFAULT));

    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemsetD8Async(cleared, 1, SMALL, NULL));
    CHECK(cuStreamSynchronize(waiter));
    driver_busy(down);
    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, down));
    CHECK(cuEventRecord(arrived, down));
    if (fixed)
        CHECK(cuStreamWaitEvent(up, arrived, 0));
    CHECK(cuMemcpyHtoDAsync(to, between, SMALL, up));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
