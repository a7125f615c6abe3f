// expect: SC301 action=rerouted certainty=observed event=cuMemcpyDtoH_v2
//
// The per-thread default stream captures, by its handle, in a program built for the legacy one.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = fixed ? new_stream() : cudaStreamPerThread;
    void *from = device_block(SMALL, WANTED);
    void *to = device_block(SMALL, FOREIGN);
    void *read = fixed ? device_block(SMALL, FOREIGN) : to;
    void *result = filled_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaMemcpy(result, read, SMALL, cudaMemcpyDeviceToHost));
    bool right = holds(result, SMALL, FOREIGN);

    replay(end_capture(stream, 1), stream);
    return finish(!broken && right && device_holds(to, SMALL, WANTED));
}
