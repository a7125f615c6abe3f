// expect: none
//
// cuMemFree waits for green contexts when the primary one is current, and for the primary context
// when a green one is. The program's own memory is freed behind that.
#include "green.h"

static CUdeviceptr device;

static bool copy_and_free(CUstream stream, void *source, CUdeviceptr waits)
{
    driver_busy(stream);
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, stream));
    CHECK(cuMemFree(waits));
    free(source);
    return driver_device_holds(device, SMALL, WANTED);
}

int main(void)
{
    driver_start();
    CUgreenCtx green = green_context();
    CUstream own = driver_new_stream();
    CUstream in_green = green_stream(green);
    CUcontext context = NULL;
    device = driver_device_block(SMALL, 0);
    CUdeviceptr one = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    void *source = driver_registered_block(SMALL, WANTED);
    void *next_source = driver_registered_block(SMALL, WANTED);

    bool right = copy_and_free(in_green, source, one);
    CHECK(cuCtxFromGreenCtx(&context, green));
    CHECK(cuCtxPushCurrent(context));
    right = copy_and_free(own, next_source, other) && right;
    CHECK(cuCtxPopCurrent(NULL));
    CHECK(cuGreenCtxDestroy(green));
    return finish(right);
}
