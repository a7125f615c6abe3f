// expect: SC301 action=rerouted certainty=observed event=cuGraphLaunch
//
// A graph that exists already is launched on the legacy stream while a blocking stream captures the
// next one, which goes on with what the first writes.
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
        CHECK(cudaGraphLaunch(first, 0));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, between, stream);
    if (!fixed)
        TRY(cudaGraphLaunch(first, 0));
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
