// expect: SC301 action=rerouted certainty=observed event=cuStreamQuery
//
// The legacy stream is queried while a blocking stream captures, until another blocking stream has
// brought its data to the host.
#include "capture.h"

static void poll(void)
{
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(0)) == cudaErrorNotReady)
        usleep(1000);
    TRY(state);
}

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t downloads = blocking_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    if (fixed)
        poll();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        poll();
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
