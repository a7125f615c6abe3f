// expect: SC302 action=reported certainty=observed event=cuStreamGetFlags
//
// A stream that captures is asked for its flags. No mode permits that: the call and the capture
// fail as ever, and the program goes on without a graph.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = driver_new_stream();
    CUgraph graph = NULL;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    unsigned flags = 0;

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    bool refused =
        fixed || cuStreamGetFlags(stream, &flags) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    CUresult end = cuStreamEndCapture(stream, &graph);
    refused = refused && end == (fixed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    CHECK(cuStreamGetFlags(stream, &flags));
    CHECK(cuStreamSynchronize(stream));
    return finish(refused && driver_device_holds(to, SMALL, WANTED));
}
