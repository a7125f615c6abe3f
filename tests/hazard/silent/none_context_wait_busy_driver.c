// expect: none
//
// The context waits for what the host allows last. Blocking streams that are at work then know
// nothing of that: one captures, another is destroyed, and the synchronises that follow return when
// that work is done.
#include "capture.h"

static volatile uint32_t *new_word(void)
{
    volatile uint32_t *word = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *word = 0;
    return word;
}

static void wait_for(volatile uint32_t *word, CUstream stream)
{
    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)word, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUstream capturing = NULL;
    CUstream passing = NULL;
    CUgraph graph = NULL;
    CUevent waited = driver_new_event();
    CUdeviceptr from = driver_device_block(SMALL, WANTED);
    CUdeviceptr to = driver_device_block(SMALL, 0);
    volatile uint32_t *first = new_word();
    volatile uint32_t *last = new_word();
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&capturing, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&passing, CU_STREAM_DEFAULT));

    wait_for(last, stream);
    CHECK(cuEventRecord(waited, stream));
    wait_for(first, capturing);
    wait_for(first, passing);
    CHECK(cuCtxWaitEvent(context, waited));
    CHECK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, capturing));
    CHECK(cuStreamEndCapture(capturing, &graph));
    CHECK(cuStreamDestroy(passing));
    *first = 1;
    CHECK(cuStreamSynchronize(capturing));
    CHECK(cuStreamSynchronize(NULL));
    *last = 1;

    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, capturing));
    CHECK(cuStreamSynchronize(capturing));
    return finish(driver_device_holds(to, SMALL, WANTED));
}
