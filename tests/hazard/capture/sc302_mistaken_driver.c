// expect: SC302 action=rerouted certainty=observed event=cuMemAlloc_v2
//
// While a stream captures, no memory is asked for: the driver looks at what captures before it
// looks at the size. Healed, the call fails as it does elsewhere, and the capture goes on.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr none = 0;

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    bool mistaken = fixed || cuMemAlloc(&none, 0) == CUDA_ERROR_INVALID_VALUE;
    driver_replay(driver_end_capture(stream, 1), stream);
    if (fixed)
        mistaken = cuMemAlloc(&none, 0) == CUDA_ERROR_INVALID_VALUE;
    return finish(mistaken && !broken && driver_device_holds(to, SMALL, WANTED));
}
