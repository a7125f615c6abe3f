// expect: SC101 action=deferred kind=registered certainty=observed
// needs: sim
//
// A reset of the primary context waits for a copy in a green one whose source was freed, and takes
// the green one with it: whoever looks after the source meanwhile makes no call there either.
#include "green.h"

int main(void)
{
    driver_start();
    CUstream stream = green_stream(green_context());
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
    CHECK(cuDevicePrimaryCtxReset(0));
    return finish(holds(target, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
