// expect: SC302 action=rerouted certainty=observed event=cuEventSynchronize
//
// The program waits for the event of another stream during the capture. Fixed, before it.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t downloads = new_stream();
    cudaEvent_t down = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaEventRecord(down, downloads));
    if (fixed)
        CHECK(cudaEventSynchronize(down));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaEventSynchronize(down));
    bool right = !broken && holds(target, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
