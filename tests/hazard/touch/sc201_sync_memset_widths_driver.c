// expect: SC201 action=stalled kind=registered certainty=observed event=cuMemsetD16_v2
// expect: SC201 action=stalled kind=registered certainty=observed event=cuMemsetD32_v2
//
// Memsets of two and of four bytes, each of a half of what is still to be sent.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr to = driver_device_block(SMALL, 0);
    char *source = (char *)driver_registered_block(SMALL, WANTED);
    CUdeviceptr second = (CUdeviceptr)(uintptr_t)source + SMALL / 2;

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(to, source, SMALL / 2, stream));
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(to + SMALL / 2, source + SMALL / 2, SMALL / 2, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemsetD16((CUdeviceptr)(uintptr_t)source, 0x1234, SMALL / 4));
    CHECK(cuMemsetD32(second, 0x12345678, SMALL / 8));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(to, SMALL, WANTED) && source[1] == 0x12 &&
                  source[SMALL - 1] == 0x12);
}
