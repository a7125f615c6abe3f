// expect: SC302 action=reported certainty=observed event=cuStreamAttachMemAsync
//
// Managed memory is attached to the stream that captures. No mode permits that: the call and the
// capture fail as ever.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *managed = NULL;
    CHECK(cudaMallocManaged(&managed, SMALL, cudaMemAttachGlobal));

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    bool refused = fixed || cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle) ==
                                cudaErrorStreamCaptureUnsupported;
    bool ended = ends_with(fixed ? cudaSuccess : cudaErrorStreamCaptureInvalidated, stream);
    if (fixed)
        CHECK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
    CHECK(cudaStreamSynchronize(stream));
    return finish(refused && ended);
}
