// expect: SC301 action=rerouted certainty=observed
// sim: late=0
//
// A host function in the legacy stream fills a source while a blocking stream captures, and runs in
// a private stream. A copy on another blocking stream comes after it, and its source is not there
// yet when the copy is issued.
#include "capture.h"

#include "early.h"

int main(void)
{
    cudaStream_t capturing = blocking_stream();
    cudaStream_t copying = blocking_stream();
    void *device = device_block(EARLY, 0);
    void *scratch = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, FOREIGN);

    if (!fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaLaunchHostFunc(cudaStreamLegacy, fill_late, source));
    if (fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaMemsetAsync(scratch, 0, EARLY, capturing));
    TRY(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    cudaGraphExec_t exec = end_capture(capturing, 1);
    CHECK(cudaStreamSynchronize(copying));
    replay(exec, capturing);
    return finish(!broken && device_holds(device, EARLY, WANTED));
}
