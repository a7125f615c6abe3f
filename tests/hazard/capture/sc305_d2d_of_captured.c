// expect: SC305 action=reported certainty=latent event=cuMemcpyDtoDAsync_v2 direction=memset
//
// What a captured memset has still to clear is handed on by a copy on a stream that was never
// joined to the capture.
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *cleared = device_block(SMALL, FOREIGN);
    void *copied = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(cudaMemsetAsync(cleared, 0, SMALL, stream));
    capture_copy(copied, cleared, fixed ? stream : other);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    return finish(!broken && device_is(copied, SMALL, 0) == fixed);
}
