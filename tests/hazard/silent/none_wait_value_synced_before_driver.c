// expect: none
// options: stall_limit=60s
//
// The host waits for a stream, which then waits for a word that the host writes, and another stream
// comes after that. The host waits once more for the event that was before the word: until the word
// is written, the source of a copy is still to be filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUevent before = driver_new_event();
    CUevent behind = driver_new_event();
    CUstream waiter = driver_new_stream();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;

    CHECK(cuMemcpyHtoDAsync(other, source, SMALL, waiter));
    CHECK(cuEventRecord(before, waiter));
    CHECK(cuStreamSynchronize(waiter));
    CHECK(cuStreamWaitValue32(waiter, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(behind, waiter));
    CHECK(cuStreamWaitEvent(stream, behind, 0));
    CHECK(cuEventSynchronize(before));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuEventSynchronize(before));
    fill(source, SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
