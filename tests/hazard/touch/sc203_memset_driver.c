// expect: SC203 action=stalled kind=registered certainty=observed
//
// The same through the driver API, in registered memory and words of 4 bytes.
#include "touch.h"
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    void *target = page_block(SMALL, 0);
    CHECK(cuMemHostRegister(target, SMALL, 0));

    driver_busy(stream);
    CHECK(cuMemsetD32Async((CUdeviceptr)(uintptr_t)target, 0, SMALL / 4, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    fill(target, SMALL, FOREIGN);

    CHECK(cuCtxSynchronize());
    return finish(holds(target, SMALL, FOREIGN));
}
