// expect: none
// options: stall_limit=60s
//
// A stream waits for a word that the host writes, and another stream for that one: until the host
// has written the word, the source of a copy there is still to be filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    CUevent waited = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;

    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(waited, stream));
    CHECK(cuStreamWaitEvent(other, waited, 0));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, other));
    fill(source, SMALL, WANTED);
    *go = 1;

    CHECK(cuStreamSynchronize(other));
    return finish(driver_device_holds(device, SMALL, WANTED));
}
