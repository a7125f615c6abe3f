// expect: SC202 action=stalled kind=pinned
//
// Rows are read by several threads, of which the first begins with what has come already.
#include "twin_driver.h"

#include "tests/spinning_kernel.h"

#include <pthread.h>

enum { THREADS = 4, ROWS = 16, ROW_BYTES = 5000, PART = ROWS * ROW_BYTES / THREADS };
enum { KERNEL_NS = 2000 * 1000 };

static char *rows;

static void *read_part(void *part)
{
    return holds((char *)part, PART, WANTED) ? part : NULL;
}

int main(void)
{
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    CUstream stream = NULL;
    pthread_t threads[THREADS];
    bool right = true;
    unsigned long long kernel_ns = KERNEL_NS;
    void *parameters[] = {&kernel_ns};
    driver_start();
    CUdeviceptr from = driver_device_block(PART, WANTED);
    rows = driver_pinned_block(ROWS * ROW_BYTES, 0);
    CHECK(cuModuleLoadData(&module, spinning_kernel_text));
    CHECK(cuModuleGetFunction(&kernel, module, "spin"));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    for (size_t at = 0; at < ROWS * ROW_BYTES; at += ROW_BYTES) {
        CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
        CHECK(cuMemcpyDtoHAsync(rows + at, from + at % PART, ROW_BYTES, stream));
    }
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    sleep_patiently(KERNEL_NS / 500);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, read_part, rows + i * PART));
    for (unsigned i = 0; i < THREADS; i++) {
        void *read = NULL;
        CHECK(pthread_join(threads[i], &read));
        right = right && read;
    }

    CHECK(cuCtxSynchronize());
    return finish(right);
}
