// expect: SC302 action=rerouted certainty=observed event=cuMemHostUnregister
//
// Memory is unregistered during the capture, and registered again after it.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, 0);
    void *block = registered_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    if (!fixed)
        TRY(cudaHostUnregister(block));
    cudaGraphExec_t exec = end_capture(stream, 1);
    if (fixed)
        CHECK(cudaHostUnregister(block));
    TRY(cudaHostRegister(block, SMALL, cudaHostRegisterDefault));

    replay(exec, stream);
    return finish(!broken && device_holds(to, SMALL, WANTED));
}
