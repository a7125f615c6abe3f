// expect: SC101 action=deferred kind=registered certainty=observed
//
// cuCtxDestroy waits for a copy whose source was freed. Whoever looks after the source meanwhile
// makes no call in that context, nor with its events: what a driver does then nobody says.
#include "twin_driver.h"

int main(void)
{
    CUcontext context = NULL;
    driver_start();
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CUstream stream = driver_new_stream();
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
    CHECK(cuCtxDestroy(context));
    return finish(holds(target, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
