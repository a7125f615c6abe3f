// expect: SC301 action=rerouted certainty=observed event=cuEventRecord
//
// An event is recorded on the legacy stream, so as to stand for the work of another blocking
// stream, while a blocking stream captures. Whoever waits for the event finds that work done.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t downloads = blocking_stream();
    cudaEvent_t down = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *target = pinned_block(SMALL, 0);

    busy(downloads);
    CHECK(cudaMemcpyAsync(target, from, SMALL, cudaMemcpyDeviceToHost, downloads));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaEventRecord(down, fixed ? downloads : 0));
    cudaGraphExec_t exec = end_capture(stream, 1);
    CHECK(broken ? cudaStreamSynchronize(downloads) : cudaEventSynchronize(down));
    bool right = holds(target, SMALL, WANTED);

    replay(exec, stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
