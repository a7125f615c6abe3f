// expect: SC302 action=rerouted certainty=observed
//
// Nothing is freed while a stream captures, as programs do to have a context made: the driver
// refuses that like any other free.
#include "capture.h"

int main(void)
{
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    cudaStream_t stream = new_stream();

    if (fixed)
        CHECK(cudaFree(NULL));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaFree(NULL));
    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
