// expect: SC301 action=rerouted certainty=observed
//
// cudaMemset while a blocking stream captures: the Relaxed mode does not permit it either. Fixed,
// it is a node of the graph.
#include "capture.h"

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *from = device_block(SMALL, FOREIGN);
    void *to = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    if (fixed)
        TRY(cudaMemsetAsync(from, 0x5a, SMALL, stream));
    else
        TRY(cudaMemset(from, 0x5a, SMALL));
    capture_copy(to, from, stream);

    replay(end_capture(stream, fixed ? 2 : 1), stream);
    return finish(!broken && device_is(to, SMALL, 0x5a));
}
