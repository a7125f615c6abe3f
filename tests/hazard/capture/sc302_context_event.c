// expect: SC302 action=reported certainty=observed event=cuCtxRecordEvent
//
// An event of the context is recorded while a stream of it captures. No mode permits that: the
// call and the capture fail as ever, and the program goes on without a graph.
#include "twin_driver.h"

static bool ends_with(CUresult expected, CUstream stream)
{
    CUgraph graph = NULL;
    return cuStreamEndCapture(stream, &graph) == expected;
}

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUevent all = driver_new_event();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CHECK(cuCtxGetCurrent(&context));

    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    bool refused = fixed || cuCtxRecordEvent(context, all) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    bool ended = ends_with(fixed ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, stream);

    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    CHECK(cuCtxRecordEvent(context, all));
    CHECK(cuEventSynchronize(all));
    return finish(refused && ended && driver_device_holds(to, SMALL, WANTED));
}
