// expect: SC101 action=deferred kind=registered certainty=observed
// needs: sim
//
// A green context holds the primary one alone, which ends with it as at its last release. The
// primary context that comes next is another one.
#include "green.h"

static CUgreenCtx start_green(void)
{
    CUcontext context = NULL;
    CUgreenCtx green = green_context();
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxSetCurrent(context));
    return green;
}

int main(void)
{
    CHECK(cuInit(0));
    CUgreenCtx green = start_green();
    CUstream stream = green_stream(green);
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    void *target = driver_registered_block(SMALL, 0);

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemcpyDtoHAsync(target, device, SMALL, stream));
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSetCurrent(NULL));
    CHECK(cuGreenCtxDestroy(green));
    bool right = holds(target, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);

    driver_start();
    device = driver_device_block(SMALL, WANTED);
    return finish(right && driver_device_holds(device, SMALL, WANTED));
}
