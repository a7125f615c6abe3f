// expect: SC301 action=rerouted certainty=observed event=cuStreamGetCtx
//
// The legacy stream is asked for its context while a blocking stream captures: the question alone
// breaks the capture.
#include "capture.h"

int main(void)
{
    driver_start();
    CUcontext current = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CHECK(cuCtxGetCurrent(&current));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

    if (fixed)
        CHECK(cuStreamGetCtx(NULL, &context));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    if (!fixed)
        TRY(cuStreamGetCtx(NULL, &context));
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(context == current && !broken && driver_device_holds(to, SMALL, WANTED));
}
