// expect: none
//
// The device waits for a word that the host writes, on the page of a buffer in flight behind that
// wait, and answers in another word, for which the host spins.
#include "twin_driver.h"

enum { DATA = 4096 - 64, GO = DATA, ANSWER = DATA + 4 };

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(DATA, WANTED);
    char *page = (char *)driver_pinned_block(4096, 0);
    volatile uint32_t *go = (volatile uint32_t *)(page + GO);
    volatile uint32_t *answer = (volatile uint32_t *)(page + ANSWER);
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)page;
    *go = *answer = 0;

    CHECK(cuStreamWaitValue32(stream, at + GO, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuMemcpyDtoHAsync(page, device, DATA, stream));
    CHECK(cuStreamWriteValue32(stream, at + ANSWER, 7, 0));
    *go = 1;
    while (*answer != 7)
        usleep(100);

    CHECK(cuStreamSynchronize(stream));
    return finish(holds(page, DATA, WANTED));
}
