// expect: SC302 action=rerouted certainty=observed event=cuMemAlloc_v2
//
// A workspace is allocated when the first work that needs it is captured.
#include "capture.h"

int main(void)
{
    void *workspace = NULL;
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    if (fixed)
        CHECK(cudaMalloc(&workspace, SMALL));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    if (!fixed)
        TRY(cudaMalloc(&workspace, SMALL));
    capture_copy(workspace, from, stream);
    capture_copy(to, workspace, stream);

    replay(end_capture(stream, 2), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
