// expect: SC305 action=reported kind=device certainty=latent event=cuMemcpyBatchAsync_v2
//
// A batch uploads the input on another stream within the capture of a copy that reads the input.
#include "batch.h"
#include "left_out.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t other = new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    if (fixed)
        CHECK(cudaMemcpyAsync(input, source, SMALL, cudaMemcpyHostToDevice, stream));
    else
        batch_copy(input, source, SMALL, cudaMemcpySrcAccessOrderStream, other);
    CHECK(cudaMemcpyAsync(result, input, SMALL, cudaMemcpyDeviceToDevice, stream));
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    CHECK(cudaDeviceSynchronize());
    return finish(!broken && second_launch_sees(exec, stream, source, result));
}
