// expect: SC301 action=rerouted certainty=observed
//
// cudaMemsetAsync on the legacy stream instead of one of its own, while a blocking stream captures.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    cudaStream_t clearing = fixed ? new_stream() : 0;
    void *from = device_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(to, from, stream);
    TRY(cudaMemsetAsync(from, 0x5a, SMALL, clearing));
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaStreamSynchronize(clearing));
    replay(exec, stream);
    return finish(!broken && device_is(to, SMALL, 0x5a));
}
