// expect: SC101 action=deferred kind=registered certainty=observed
// sim: driver=13020
// needs: sim
//
// One copy with attributes, which CUDA 13.2 has beside the batches.
#include "newer.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    driver_busy(stream);
    copy_with_order(device, source, SMALL, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, stream);
    if (fixed) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuMemHostUnregister(source));
    }
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
