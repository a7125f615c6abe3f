// expect: none
// options: stall_limit=60s
//
// A stream waits for a word that the host writes, and the whole context for an event behind that.
// Synchronises and queries of other streams return at once, and say nothing of that: the sources of
// later copies there are still to be filled.
#include "twin_driver.h"

enum { STREAMS = 3 };

int main(void)
{
    driver_start();
    CUcontext context = NULL;
    CUstream stream = driver_new_stream();
    CUstream others[STREAMS] = {driver_new_stream(), CU_STREAM_LEGACY};
    CUevent waited = driver_new_event();
    CUdeviceptr to[STREAMS];
    void *from[STREAMS];
    bool right = true;
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuCtxGetCurrent(&context));
    for (int i = 0; i < STREAMS; i++) {
        to[i] = driver_device_block(SMALL, 0);
        from[i] = driver_pinned_block(SMALL, 0);
    }

    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(waited, stream));
    CHECK(cuCtxWaitEvent(context, waited));
    others[2] = driver_new_stream();
    for (int i = 0; i < STREAMS; i++) {
        right = right && cuStreamQuery(others[i]) == CUDA_SUCCESS;
        CHECK(cuStreamSynchronize(others[i]));
        CHECK(cuMemcpyHtoDAsync(to[i], from[i], SMALL, others[i]));
    }
    for (int i = 0; i < STREAMS; i++)
        fill(from[i], SMALL, WANTED);
    *go = 1;

    CHECK(cuCtxSynchronize());
    for (int i = 0; i < STREAMS; i++)
        right = right && driver_device_holds(to[i], SMALL, WANTED);
    return finish(right);
}
