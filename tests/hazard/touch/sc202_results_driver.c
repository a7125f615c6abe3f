// expect: SC202 action=stalled kind=pinned certainty=observed
//
// Results of a word each, side by side, with a kernel before each of them: the first is waited for,
// and the others are read right behind it, on the same page.
#include "held_kernels.h"

enum { RESULTS = 20 };

int main(void)
{
    driver_start();
    CUdeviceptr from = driver_device_block(RESULTS, WANTED);
    char *results = driver_pinned_block(RESULTS, 0);
    CUstream stream = driver_new_stream();
    struct held_kernels held = new_held_kernels(stream);

    for (unsigned i = 0; i < RESULTS; i++) {
        hold_by_kernel(&held);
        CHECK(cuMemcpyDtoHAsync(results + i, from + i, 1, stream));
    }
    end_held_kernels(&held);
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    bool right = holds(results, RESULTS, WANTED);

    CHECK(cuCtxSynchronize());
    return finish(right);
}
