// expect: none
// options: stall_limit=60s
//
// A stream waits for a word that the host writes, and the whole context for an event behind that:
// the sources of copies on a stream that is there, and on one that is made then, are still to be
// filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUstream other = driver_new_stream();
    CUevent waited = driver_new_event();
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *first = driver_pinned_block(SMALL, 0);
    void *second = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuCtxGetCurrent(&context));

    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(waited, stream));
    CHECK(cuCtxWaitEvent(context, waited));
    CHECK(cuMemcpyHtoDAsync(one, first, SMALL, other));
    CHECK(cuMemcpyHtoDAsync(two, second, SMALL, driver_new_stream()));
    fill(first, SMALL, WANTED);
    fill(second, SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(one, SMALL, WANTED) &&
                  driver_device_holds(two, SMALL, WANTED));
}
