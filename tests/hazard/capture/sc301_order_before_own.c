// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// What the copy on the legacy stream reads is still on its way there, on the stream that captures:
// issued before the capture began.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, 0);
    void *to = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    void *result = filled_block(SMALL, 0);

    busy(stream);
    CHECK(cudaMemcpyAsync(from, source, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        CHECK(cudaMemcpy(result, from, SMALL, cudaMemcpyDeviceToHost));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaMemcpy(result, from, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, WANTED);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
