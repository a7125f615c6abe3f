// expect: none
//
// The context waits for an event behind a copy; a blocking stream does something behind that, is
// destroyed, and the host waits for the legacy stream, which comes after all of it.
#include "twin_driver.h"

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUstream blocking = NULL;
    CUevent copied = driver_new_event();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));

    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuEventRecord(copied, stream));
    CHECK(cuCtxWaitEvent(context, copied));
    CHECK(cuMemsetD8Async(other, 1, SMALL, blocking));
    CHECK(cuStreamDestroy(blocking));
    CHECK(cuStreamSynchronize(CU_STREAM_LEGACY));
    CHECK(cuMemHostUnregister(source));
    free(source);

    void *owner = filled_block(SMALL, FOREIGN);
    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
