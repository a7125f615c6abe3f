// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// A synchronous copy while a blocking stream captures, through the driver API, linked against
// libcuda alone.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_blocking_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, FOREIGN);
    void *result = filled_block(SMALL, 0);

    if (fixed)
        CHECK(cuMemcpyDtoH(result, to, SMALL));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    if (!fixed)
        TRY(cuMemcpyDtoH(result, to, SMALL));
    bool right = holds(result, SMALL, FOREIGN);

    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(!broken && right && driver_device_holds(to, SMALL, WANTED));
}
