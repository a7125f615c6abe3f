// expect: SC105 action=deferred kind=pinned certainty=observed
//
// docs/wild-bugs.md, row 8: cuMemFreeHost of a buffer that a cuMemsetD32Async is still to fill.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    void *buffer = driver_pinned_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemsetD32Async((CUdeviceptr)(uintptr_t)buffer, 0xdeadbeef, SMALL / 4, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(buffer));

    void *owner = driver_pinned_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(holds(owner, SMALL, FOREIGN));
}
