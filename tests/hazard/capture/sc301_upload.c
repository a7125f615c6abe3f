// expect: SC301 action=rerouted certainty=observed event=cuGraphUpload
//
// A graph that exists already is uploaded in the legacy stream while a blocking stream captures.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *between = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(between, from, stream);
    cudaGraphExec_t first = end_capture(stream, 1);

    if (fixed)
        CHECK(cudaGraphUpload(first, 0));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, between, stream);
    if (!fixed)
        TRY(cudaGraphUpload(first, 0));
    cudaGraphExec_t second = end_capture(stream, 1);
    replay(first, stream);
    replay(second, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
