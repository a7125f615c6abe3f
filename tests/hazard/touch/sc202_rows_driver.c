// expect: SC202 action=stalled kind=pinned certainty=observed
//
// The same with rows that have their ends on pages in the middle of the next: each page is opened
// when both of its rows have come.
#include "held_kernels.h"

enum { ROWS = 12, ROW_BYTES = 5000 };

int main(void)
{
    driver_start();
    CUdeviceptr from = driver_device_block(ROWS * ROW_BYTES, WANTED);
    char *rows = driver_pinned_block(ROWS * ROW_BYTES, 0);
    CUstream stream = driver_new_stream();
    struct held_kernels held = new_held_kernels(stream);

    for (size_t at = 0; at < ROWS * ROW_BYTES; at += ROW_BYTES) {
        hold_by_kernel(&held);
        CHECK(cuMemcpyDtoHAsync(rows + at, from + at, ROW_BYTES, stream));
    }
    end_held_kernels(&held);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(rows, ROWS * ROW_BYTES, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
