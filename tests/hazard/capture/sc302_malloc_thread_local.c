// expect: SC302 action=rerouted certainty=observed event=cuMemAlloc_v2
//
// A ThreadLocal capture, on a blocking stream: the thread that captures may not allocate either.
// Fixed, the capture is Relaxed.
#include "capture.h"

int main(void)
{
    void *workspace = NULL;
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeRelaxed
                                               : cudaStreamCaptureModeThreadLocal));
    TRY(cudaMalloc(&workspace, SMALL));
    capture_copy(workspace, from, stream);
    capture_copy(to, workspace, stream);

    replay(end_capture(stream, 2), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
