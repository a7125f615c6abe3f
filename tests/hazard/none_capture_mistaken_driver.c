// expect: none
// needs: sim
//
// While a stream captures, nothing is freed and no event is asked: calls that have nothing to do,
// and calls that name nothing, need not be among those that a capture does not permit.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    CHECK(cuMemFree(0));
    CHECK(cuMemFreeHost(NULL));
    bool refused = cuEventQuery(NULL) == CUDA_ERROR_INVALID_HANDLE &&
                   cuGraphExecDestroy(NULL) == CUDA_ERROR_INVALID_VALUE;
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(refused && !broken && driver_device_holds(to, SMALL, WANTED));
}
