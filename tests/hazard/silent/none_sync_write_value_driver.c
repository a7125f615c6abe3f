// expect: none
//
// The stream writes a word behind its copy, for which the program spins before it sends the result
// on.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);
    volatile uint32_t *word = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *word = 0;

    CHECK(cuMemcpyDtoHAsync(between, from, SMALL, stream));
    CHECK(cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)word, 7, 0));
    while (*word != 7)
        usleep(100);
    CHECK(cuMemcpyHtoD(to, between, SMALL));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED));
}
