// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The same with rows that have their ends on pages in the middle of the next: each page is opened
// when both of its rows have come.
#include "twin_driver.h"

#include "tests/spinning_kernel.h"

enum { ROWS = 12, ROW_BYTES = 5000, FIRST_NS = 300 * 1000 * 1000, KERNEL_NS = 3000 * 1000 };

int main(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUstream stream = NULL;
    unsigned long long kernel_ns = FIRST_NS;
    void *parameters[] = {&kernel_ns};
    driver_start();
    CUdeviceptr from = driver_device_block(ROWS * ROW_BYTES, WANTED);
    char *rows = driver_pinned_block(ROWS * ROW_BYTES, 0);
    CHECK(cuModuleLoadData(&module, spinning_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    for (size_t at = 0; at < ROWS * ROW_BYTES; at += ROW_BYTES) {
        CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        CHECK(cuMemcpyDtoHAsync(rows + at, from + at, ROW_BYTES, stream));
        kernel_ns = KERNEL_NS;
    }
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(rows, ROWS * ROW_BYTES, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
