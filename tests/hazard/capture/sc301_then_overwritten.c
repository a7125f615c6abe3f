// expect: SC301 action=rerouted certainty=observed
// expect: SC201 action=snapshotted kind=pinned
// sim: late=0
//
// A small source is overwritten while its copy waits. Before that, a copy in the legacy stream was
// done beside a capture: nothing but copies is at work, and the source is kept as it was.
#include "capture.h"

#include "early.h"

int main(void)
{
    cudaStream_t capturing = blocking_stream();
    cudaStream_t copying = blocking_stream();
    void *device = device_block(EARLY, 0);
    void *scratch = device_block(EARLY, 0);
    void *source = pinned_block(EARLY, WANTED);

    if (!fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaMemcpyAsync(scratch, device, EARLY, cudaMemcpyDeviceToDevice, cudaStreamLegacy));
    if (fixed)
        CHECK(cudaStreamBeginCapture(capturing, cudaStreamCaptureModeRelaxed));
    TRY(cudaMemsetAsync(scratch, 0, EARLY, capturing));
    cudaGraphExec_t exec = end_capture(capturing, 1);
    TRY(cudaMemcpyAsync(device, source, EARLY, cudaMemcpyHostToDevice, copying));
    if (fixed)
        CHECK(cudaStreamSynchronize(copying));
    fill(source, EARLY, FOREIGN);
    CHECK(cudaStreamSynchronize(copying));
    replay(exec, capturing);
    return finish(!broken && device_holds(device, EARLY, WANTED));
}
