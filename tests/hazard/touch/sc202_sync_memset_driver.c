// expect: SC202 action=stalled kind=pinned certainty=observed event=cuMemcpyHtoD_v2
//
// A synchronous copy sends what a memset on another stream is still to write.
#include "twin_driver.h"

int main(void)
{
    unsigned char last = 0;
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *between = driver_pinned_block(SMALL, FOREIGN);

    driver_busy(stream);
    CHECK(cuMemsetD8Async((CUdeviceptr)(uintptr_t)between, 7, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyHtoD(to, between, SMALL));

    CHECK(cuCtxSynchronize());
    CHECK(cuMemcpyDtoH(&last, to + SMALL - 1, 1));
    return finish(last == 7);
}
