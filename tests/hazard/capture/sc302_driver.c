// expect: SC302 action=rerouted certainty=observed event=cuMemAlloc_v2
//
// Memory is allocated during a capture, through the driver API, linked against libcuda alone.
#include "capture.h"

int main(void)
{
    CUdeviceptr workspace = 0;
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    if (fixed)
        CHECK(cuMemAlloc(&workspace, SMALL));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    if (!fixed)
        TRY(cuMemAlloc(&workspace, SMALL));
    TRY(cuMemcpyDtoDAsync(workspace, from, SMALL, stream));
    TRY(cuMemcpyDtoDAsync(to, workspace, SMALL, stream));

    driver_replay(driver_end_capture(stream, 2), stream);
    return finish(!broken && driver_device_holds(to, SMALL, WANTED));
}
