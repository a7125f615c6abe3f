// expect: SC301 action=rerouted certainty=observed event=cuStreamWaitEvent
// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// What Warp's .numpy() does in a capture: the legacy stream is told to wait for the captured work
// before memory is read on it. There is nothing to wait for, and it reads what is there now. Other
// waits of the legacy stream for the same event order as ever.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t uploads = new_stream();
    cudaEvent_t event = new_event();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *source = pinned_block(SMALL, WANTED);
    void *result = filled_block(SMALL, 0);

    if (fixed)
        CHECK(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    CHECK(cudaEventRecord(event, stream));
    if (!fixed) {
        TRY(cudaStreamWaitEvent(0, event, 0));
        TRY(cudaMemcpy(result, to, SMALL, cudaMemcpyDeviceToHost));
    }
    bool right = holds(result, SMALL, FOREIGN);
    replay(end_capture(stream, 1), stream);
    right = right && device_holds(to, SMALL, WANTED);

    busy(uploads);
    CHECK(cudaMemsetAsync(to, 0, SMALL, uploads));
    CHECK(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, uploads));
    CHECK(cudaEventRecord(event, uploads));
    CHECK(cudaStreamWaitEvent(0, event, 0));
    CHECK(cudaMemcpyAsync(from, to, SMALL, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaStreamSynchronize(0));
    return finish(!broken && right && device_holds(from, SMALL, WANTED));
}
