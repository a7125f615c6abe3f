// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Results of a word each, side by side, with a kernel before each of them: the first is waited for,
// and the others are read right behind it, on the same page.
#include "twin_driver.h"

#include "tests/spinning_kernel.h"

enum { RESULTS = 20, FIRST_NS = 300 * 1000 * 1000, KERNEL_NS = 3000 * 1000 };

int main(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUstream stream = NULL;
    unsigned long long kernel_ns = FIRST_NS;
    void *parameters[] = {&kernel_ns};
    driver_start();
    CUdeviceptr from = driver_device_block(RESULTS, WANTED);
    char *results = driver_pinned_block(RESULTS, 0);
    CHECK(cuModuleLoadData(&module, spinning_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    for (unsigned i = 0; i < RESULTS; i++) {
        CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        CHECK(cuMemcpyDtoHAsync(results + i, from + i, 1, stream));
        kernel_ns = KERNEL_NS;
    }
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(results, RESULTS, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
