// expect: SC105 action=deferred kind=pinned certainty=observed
// options: max_held=3M
//
// Pinned memory is freed in flight in context after context, at the same address, and goes with
// each of them. What is held does not add up: the fourth would have to wait.
#include "twin_driver.h"

enum { CONTEXTS = 6 };

static bool once(void)
{
    CUcontext context = NULL;
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(LARGE, 0);
    void *source = driver_pinned_block(LARGE, WANTED);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, LARGE, stream));
    if (fixed)
        CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemFreeHost(source));
    CHECK(cuStreamSynchronize(stream));
    bool right = driver_device_holds(device, LARGE, WANTED);
    CHECK(cuCtxDestroy(context));
    return right;
}

int main(void)
{
    bool right = true;
    driver_start();
    for (int i = 0; i < CONTEXTS; i++)
        right = once() && right;
    return finish(right);
}
