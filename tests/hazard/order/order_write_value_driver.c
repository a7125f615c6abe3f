// expect: SC201 action=stalled certainty=observed
//
// Established by a word that the stream writes behind the copy, which the program waits for. The
// racy build does not.
#include "twin_driver.h"

#include <stdatomic.h>

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr word = 0;
    void *input = driver_pinned_block(SMALL, WANTED);
    void *memory = NULL;
    CHECK(cuMemHostAlloc(&memory, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
    CHECK(cuMemHostGetDevicePointer(&word, memory, 0));
    _Atomic uint32_t *flag = (_Atomic uint32_t *)memory;
    *flag = 0;

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, input, SMALL, stream));
    CHECK(cuStreamWriteValue32(stream, word, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    while (fixed && atomic_load(flag) == 0)
        usleep(500);
    fill(input, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
