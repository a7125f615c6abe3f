// expect: SC301 action=rerouted certainty=observed
//
// The legacy stream is still busy with what it was given during the capture when the graph is
// launched, on the stream that captured it.
#include "capture.h"

static void upload(void *to, const void *source)
{
    TRY(cudaLaunchHostFunc(0, sleep_in_stream, NULL));
    TRY(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, 0));
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);

    if (fixed)
        upload(from, source);
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        upload(from, source);
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
