// expect: SC301 action=rerouted certainty=observed event=cuStreamQuery
// needs: kernel (statm)
//
// The legacy stream is queried without a pause while a blocking stream captures, until what it had
// been given before is done. Many queries leave nothing behind.
#include "capture.h"

#include "tests/process_memory.h"

static void poll(void)
{
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaStreamQuery(0)) == cudaErrorNotReady)
        continue;
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
    busy(0);
    if (fixed)
        poll();
    size_t before = resident_bytes();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        poll();
    size_t grown = resident_bytes() - before;
    bool right = !broken && grown < LARGE && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
