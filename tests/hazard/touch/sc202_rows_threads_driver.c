// expect: SC202 action=stalled kind=pinned
//
// Rows are read by several threads, of which the first begins with what has come already.
#include "held_kernels.h"

enum { THREADS = 4, ROWS = 16, ROW_BYTES = 5000, PART = ROWS * ROW_BYTES / THREADS };

static char *rows;

static void *read_part(void *part)
{
    return holds((char *)part, PART, WANTED) ? part : NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    bool right = true;
    driver_start();
    CUdeviceptr from = driver_device_block(PART, WANTED);
    rows = driver_pinned_block(ROWS * ROW_BYTES, 0);
    CUstream stream = driver_new_stream();
    struct held_kernels held = new_held_kernels(stream);

    for (size_t at = 0; at < ROWS * ROW_BYTES; at += ROW_BYTES) {
        hold_by_kernel(&held);
        CHECK(cuMemcpyDtoHAsync(rows + at, from + at % PART, ROW_BYTES, stream));
    }
    end_held_kernels(&held);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    while (*((volatile uint32_t *)held.bell + 1) < 2)
        usleep(100);
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
