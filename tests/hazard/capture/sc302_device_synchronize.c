// expect: SC302 action=reported certainty=observed
//
// cudaDeviceSynchronize waits for the stream that captures as well: the call and the capture fail
// as ever, and the program goes on without a graph.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    bool refused = fixed || cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);

    CHECK(cudaMemcpyAsync(to, from, SMALL, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    return finish(refused && ended && device_holds(to, SMALL, WANTED));
}
