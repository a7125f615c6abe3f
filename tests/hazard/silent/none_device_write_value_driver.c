// expect: none
// options: device=1
//
// The stream writes a word behind its memset, for which the program spins before another stream
// copies what was set. A kernel that the first stream runs behind the word is no concern of the
// copy's.
#include "twin_driver.h"

#include "tests/spinning_kernel.h"

static void spin(CUstream stream)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    unsigned long long kernel_ns = BUSY_US * 1000ULL;
    void *parameters[] = {&kernel_ns};
    CHECK(cuModuleLoadData(&module, spinning_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

int main(void)
{
    driver_start();
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, FOREIGN);
    void *to = driver_pinned_block(SMALL, 0);
    volatile uint32_t *word = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *word = 0;

    CHECK(cuMemsetD8Async(from, 5, SMALL, first));
    CHECK(cuStreamWriteValue32(first, (CUdeviceptr)(uintptr_t)word, 7, 0));
    spin(first);
    while (*word != 7)
        usleep(100);
    CHECK(cuMemcpyDtoHAsync(to, from, SMALL, second));
    CHECK(cuStreamSynchronize(second));
    bool right = ((const unsigned char *)to)[0] == 5;

    CHECK(cuCtxSynchronize());
    return finish(right);
}
