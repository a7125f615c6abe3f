// expect: none
//
// A blocking stream of one context captures, and the program uses the legacy stream of another
// context: the two have nothing to do with each other.
#include "capture.h"

int main(void)
{
    CUcontext other = NULL;
    driver_start();
    CHECK(cuCtxCreate(&other, NULL, 0, 0));
    CUdeviceptr beside = driver_device_block(SMALL, 0);
    CHECK(cuCtxPopCurrent(NULL));
    CUstream stream = driver_blocking_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    void *source = filled_block(SMALL, FOREIGN);
    void *result = filled_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    CHECK(cuCtxPushCurrent(other));
    CHECK(cuMemcpyHtoD(beside, source, SMALL));
    CHECK(cuMemcpyDtoH(result, beside, SMALL));
    CHECK(cuCtxPopCurrent(NULL));
    bool right = holds(result, SMALL, FOREIGN);

    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && right && driver_device_holds(to, SMALL, WANTED));
}
