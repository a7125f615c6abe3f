// expect: none
//
// A green context is first used while a stream of the primary one captures. It is known for what it
// is all the same: cuMemFree waits for the primary context there.
#include "green.h"

int main(void)
{
    driver_start();
    CUgreenCtx green = green_context();
    CUgraph graph = NULL;
    CUcontext context = NULL;
    CUstream own = driver_new_stream();
    CUstream capturing = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);

    CHECK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxPushCurrent(context));
    driver_busy(own);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, own));
    CHECK(cuMemFree(other));
    free(source);
    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuStreamEndCapture(capturing, &graph));
    return finish(driver_device_holds(device, SMALL, WANTED));
}
