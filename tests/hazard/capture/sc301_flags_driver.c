// expect: SC301 action=rerouted certainty=observed event=cuStreamGetFlags
//
// The legacy stream is asked for its flags while a blocking stream captures: the question alone
// breaks the capture. The answer is that of the legacy stream, and puts nothing in order: a stream
// that waits for the host goes on holding up nobody else.
#include "capture.h"

static CUstream new_blocking(void)
{
    CUstream stream = NULL;
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    return stream;
}

int main(void)
{
    driver_start();
    unsigned flags = 99;
    CUstream stream = new_blocking();
    CUstream waiting = new_blocking();
    CUstream beside = new_blocking();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    CUdeviceptr other = driver_device_block(SMALL, 0);
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;

    if (fixed)
        CHECK(cuStreamGetFlags(NULL, &flags));
    CHECK(cuStreamWaitValue32(waiting, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, stream));
    if (!fixed)
        TRY(cuStreamGetFlags(NULL, &flags));
    CUgraphExec exec = driver_end_capture(stream, 1);
    CHECK(cuMemcpyDtoDAsync(other, from, SMALL, beside));
    CHECK(cuStreamSynchronize(beside));
    *go = 1;
    driver_replay(exec, stream);
    return finish(flags == CU_STREAM_DEFAULT && !broken && driver_device_holds(to, SMALL, WANTED));
}
