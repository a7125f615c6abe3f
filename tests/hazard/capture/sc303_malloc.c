// expect: SC303 action=rerouted certainty=observed event=cuMemAlloc_v2
//
// A thread allocates device memory while another thread captures. Fixed, the capture is
// ThreadLocal.
#include "capture.h"

static void *allocate(void *block)
{
    TRY(cudaMalloc((void **)block, SMALL));
    return NULL;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *others = NULL;

    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeThreadLocal
                                               : cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    on_other_thread(allocate, &others);
    cudaGraphExec_t exec = end_capture(stream, 1);

    if (!broken)
        CHECK(cudaMemset(others, 0x5a, SMALL));
    replay(exec, stream);
    return finish(!broken && device_is(others, SMALL, 0x5a) && device_holds(to, SMALL, WANTED));
}
