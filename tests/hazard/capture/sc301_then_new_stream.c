// expect: SC301 action=rerouted certainty=observed
// sim: late=0
//
// A copy in the legacy stream fills a source while a blocking stream captures, in a private stream
// and behind a busy one. A stream that is made after the capture comes after the legacy stream, and
// the source of its copy is not there yet when that is issued.
#include "capture.h"

#include "early.h"

int main(void)
{
    cudaStream_t capturing = blocking_stream();
    cudaStream_t working = blocking_stream();
    void *device = device_block(EARLY, 0);
    void *filled = device_block(EARLY, WANTED);
    void *scratch = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);

    busy(working);
    if (!fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaMemcpyAsync(source, filled, EARLY, cudaMemcpyDeviceToHost, cudaStreamLegacy));
    if (fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaMemsetAsync(scratch, 0, EARLY, capturing));
    cudaGraphExec_t exec = end_capture(capturing, 1);
    cudaStream_t copying = blocking_stream();
    TRY(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    CHECK(cudaStreamSynchronize(copying));
    replay(exec, capturing);
    return finish(!broken && device_holds(device, EARLY, WANTED));
}
