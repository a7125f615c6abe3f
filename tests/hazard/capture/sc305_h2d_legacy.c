// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpyHtoDAsync_v2
//
// An upload on the legacy stream in the middle of a capture, instead of on the stream that
// captures: each launch uses the bytes of that one upload.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, fixed ? stream : 0));
    capture_copy(result, input, stream);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    CHECK(cudaDeviceSynchronize());
    bool right = second_launch_sees(exec, stream, source, result);
    return finish(!broken && right);
}
