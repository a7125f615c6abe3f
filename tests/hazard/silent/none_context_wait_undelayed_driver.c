// expect: none
//
// The context waits for what the host is to allow. Idle streams know nothing of that: one captures,
// another is destroyed, and the synchronises that follow return before the host has done so.
#include "capture.h"

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
    volatile uint32_t *go = (volatile uint32_t *)driver_pinned_block(4096, 0);
    *go = 0;
    CHECK(cuCtxGetCurrent(&context));
    CHECK(cuStreamCreate(&capturing, CU_STREAM_DEFAULT));
    CHECK(cuStreamCreate(&passing, CU_STREAM_DEFAULT));
    CHECK(cuMemcpyDtoDAsync(to, to, SMALL, capturing));
    CHECK(cuMemcpyDtoDAsync(from, from, SMALL, passing));
    CHECK(cuCtxSynchronize());

    CHECK(cuStreamWaitValue32(stream, (CUdeviceptr)(uintptr_t)go, 1, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(cuEventRecord(waited, stream));
    CHECK(cuCtxWaitEvent(context, waited));
    CHECK(cuStreamBeginCapture(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, capturing));
    CHECK(cuStreamEndCapture(capturing, &graph));
    CHECK(cuStreamDestroy(passing));
    bool idle = cuStreamQuery(capturing) == CUDA_SUCCESS && cuStreamQuery(NULL) == CUDA_SUCCESS;
    CHECK(cuStreamSynchronize(capturing));
    CHECK(cuStreamSynchronize(NULL));
    *go = 1;

    CHECK(cuMemcpyDtoDAsync(to, from, SMALL, capturing));
    CHECK(cuStreamSynchronize(capturing));
    return finish(idle && driver_device_holds(to, SMALL, WANTED));
}
