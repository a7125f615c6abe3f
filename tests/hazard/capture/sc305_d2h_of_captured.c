// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpyDtoH_v2
//
// A result is downloaded within the capture that makes it: the copy runs at once, and reads what
// the graph has still to make.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *input = device_block(SMALL, WANTED);
    void *result = device_block(SMALL, FOREIGN);
    void *seen = pinned_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(result, input, stream);
    if (fixed)
        CHECK(cudaMemcpyAsync(seen, result, SMALL, cudaMemcpyDeviceToHost, stream));
    else
        CHECK(cudaMemcpy(seen, result, SMALL, cudaMemcpyDeviceToHost));
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    replay(exec, stream);
    return finish(!broken && holds(seen, SMALL, fixed ? WANTED : FOREIGN));
}
