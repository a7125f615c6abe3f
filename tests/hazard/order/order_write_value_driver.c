// expect: SC201 action=stalled certainty=observed
//
// Established by a word that the stream writes behind the copy, which the program waits for. The
// racy build does not.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr word = 0;
    void *input = driver_pinned_block(SMALL, WANTED);
    uint32_t *flag = NULL;
    CHECK(cuMemHostAlloc((void **)&flag, sizeof *flag, CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&word, flag, 0));
    *flag = 0;

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamWriteValue32(stream, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    while (fixed && __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
