// expect: none
//
// While a stream captures, calls name nothing that there is: the driver says so, and the capture
// goes on.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    bool refused = cuEventQuery(NULL) == CUDA_ERROR_INVALID_HANDLE &&
                   cuModuleUnload(NULL) == CUDA_ERROR_INVALID_HANDLE &&
                   cuArrayDestroy(NULL) == CUDA_ERROR_INVALID_HANDLE;
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(refused && !broken && driver_device_holds(to, SMALL, WANTED));
}
