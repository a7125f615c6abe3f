// expect: none
// options: stall_limit=60s
//
// A blocking stream waits for a word that the host writes, the legacy stream for that one, and
// another blocking stream for the legacy stream: until the host has written the word, the sources
// of copies on both are still to be filled.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream first = NULL;
    CUstream second = NULL;
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr two = driver_device_block(SMALL, 0);
    void *legacy_source = driver_pinned_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuStreamCreate(&first, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&second, CU_STREAM_DEFAULT));

    CHECK(cuStreamWaitValue32(first, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyHtoDAsync(one, legacy_source, SMALL, NULL));
    CHECK(cuMemcpyHtoDAsync(two, source, SMALL, second));
    fill(legacy_source, SMALL, WANTED);
    fill(source, SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(one, SMALL, WANTED) &&
                  driver_device_holds(two, SMALL, WANTED));
}
