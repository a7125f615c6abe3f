// expect: SC302 action=rerouted certainty=observed event=cuMemHostRegister_v2
//
// The source of a captured copy is registered during the capture. Fixed, the capture is Relaxed.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *to = device_block(SMALL, 0);
    void *source = separate_block(SMALL, WANTED);

    CHECK(cudaStreamBeginCapture(stream, fixed ? cudaStreamCaptureModeRelaxed
                                               : cudaStreamCaptureModeGlobal));
    TRY(cudaHostRegister(source, SMALL, cudaHostRegisterDefault));
    TRY(cudaMemcpyAsync(to, source, SMALL, cudaMemcpyHostToDevice, stream));

    replay(end_capture(stream, 1), stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
