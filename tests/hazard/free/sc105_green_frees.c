// expect: SC105 action=deferred kind=pinned certainty=observed
// options: max_held=128K
//
// Pinned memory is freed in flight with a green context current. It goes back when the program next
// waits for the primary context, as cuMemFree does there, so that there is always room to keep
// more.
#include "green.h"

enum { ROUNDS = 4 };

static bool free_in_flight(CUstream stream, CUdeviceptr device)
{
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *pinned = driver_pinned_block(SMALL, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, pinned, SMALL, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(pinned));
    CHECK(cuMemFree(other));
    return driver_device_holds(device, SMALL, WANTED);
}

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUgreenCtx green = green_context();
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxPushCurrent(context));
    CUstream stream = green_stream(green);
    CUdeviceptr device = driver_device_block(SMALL, 0);
    bool right = true;
    for (int i = 0; i < ROUNDS; i++)
        right = free_in_flight(stream, device) && right;
    return finish(right);
}
