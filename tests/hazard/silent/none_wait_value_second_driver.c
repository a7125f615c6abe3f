// expect: none
// options: stall_limit=60s
//
// A stream waits for two words that the host writes. The host waits for the event between the two:
// until it has written the second word, the source of a copy in a stream behind both is still to be
// filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUevent between = driver_new_event();
    CUevent behind = driver_new_event();
    CUstream waiter = driver_new_stream();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    go[0] = go[1] = 0;

    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)&go[0], 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(between, waiter));
    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)&go[1], 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(behind, waiter));
    CHECK(cuStreamWaitEvent(stream, behind, 0));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    go[0] = 1;
    CHECK(cuEventSynchronize(between));
    fill(source, SMALL, WANTED);
    go[1] = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
