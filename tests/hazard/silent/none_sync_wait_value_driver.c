// expect: none
// options: stall_limit=60s
//
// A stream waits for a word before it reads its source, which the program fills by synchronous
// copies and memsets until it writes that word.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    char *source = (char *)driver_pinned_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;

    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyHtoDAsync(to, source, SMALL, stream));
    CHECK(cuMemsetD8((CUdeviceptr)(uintptr_t)source, 0xee, SMALL));
    CHECK(cuMemcpyDtoH(source, from, SMALL));
    *go = 1;

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
