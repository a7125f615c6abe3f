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
    struct driver_round_trip trip = driver_free_in_flight(stream);
    CHECK(cuCtxSetCurrent(NULL));
    CHECK(cuGreenCtxDestroy(green));
    bool right = driver_is_back(&trip);

    driver_start();
    CUdeviceptr device = driver_device_block(SMALL, WANTED);
    return finish(right && driver_device_holds(device, SMALL, WANTED));
}
