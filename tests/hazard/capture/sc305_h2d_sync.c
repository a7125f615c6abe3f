// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpyHtoD_v2
//
// A synchronous upload in the middle of a capture, behind the captured copy that reads it: all
// launches but the first should have uploaded before they read.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    capture_copy(result, input, stream);
    if (fixed)
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpy(input, source, SMALL, cudaMemcpyHostToDevice));
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream); /* the next one sees what this one has uploaded, if it uploads */
    fill(source, SMALL, NEXT);
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(result, SMALL, fixed ? NEXT : WANTED));
}
