// expect: SC301 action=rerouted certainty=observed event=cuStreamGetFlags
//
// The legacy stream is asked for its flags while a blocking stream captures: the question alone
// breaks the capture. The answer is that of the legacy stream.
#include "capture.h"

int main(void)
{
    driver_start();
    unsigned flags = 99;
    CUstream stream = NULL;
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));

    if (fixed)
        CHECK(cuStreamGetFlags(NULL, &flags));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    if (!fixed)
        TRY(cuStreamGetFlags(NULL, &flags));
    driver_replay(driver_end_capture(stream, 1), stream);
    return finish(flags == CU_STREAM_DEFAULT && !broken && driver_device_holds(to, SMALL, WANTED));
}
