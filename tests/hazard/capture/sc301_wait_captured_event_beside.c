// expect: SC301 action=rerouted certainty=observed event=cuStreamWaitEvent
//
// The legacy stream is told to wait for what a non-blocking stream captures, which alone would
// break the capture. What comes behind it is not in the way.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t event = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *read = device_block(SMALL, FOREIGN);
    void *result = filled_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    capture_copy(to, from, stream);
    CHECK(cudaEventRecord(event, stream));
    if (!fixed)
        TRY(cudaStreamWaitEvent(0, event, 0));
    TRY(cudaMemcpy(result, read, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);
    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
