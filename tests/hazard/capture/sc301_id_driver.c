// expect: SC301 action=reported certainty=observed event=cuStreamGetId
//
// The legacy stream is asked for its id while a blocking stream captures. No other stream could
// answer: the capture fails as ever, and the program goes on without a graph.
#include "capture.h"

int main(void)
{
    driver_start();
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    unsigned long long id = 0;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    bool refused = fixed || cuStreamGetId(NULL, &id) == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    CUresult end = cuStreamEndCapture(stream, &graph);
    refused = refused && end == (fixed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    CHECK(cuStreamGetId(NULL, &id));
    CHECK(cuStreamSynchronize(stream));
    return finish(refused && driver_device_holds(to, SMALL, WANTED));
}
