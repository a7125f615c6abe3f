// expect: SC305 action=reported certainty=latent event=cuMemcpyBatchAsync_v2 origin=cuMemAlloc_v2
// options: device=1
//
// Uploads of a batch on a copy stream that no event has joined to the capture.
#include "left_out.h"

static void upload(void *to, const void *from, cudaStream_t stream)
{
    struct cudaMemcpyAttributes order = {.srcAccessOrder = cudaMemcpySrcAccessOrderStream};
    size_t size = SMALL;
    size_t first = 0;
    if (fixed)
        CHECK(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, stream));
    else
        CHECK(cudaMemcpyBatchAsync(&to, &from, &size, 1, &order, &first, 1, stream));
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaStream_t uploads = fixed ? stream : new_stream();
    void *source = pinned_block(SMALL, WANTED);
    void *input = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    upload(input, source, uploads);
    capture_copy(result, input, stream);
    cudaGraphExec_t exec = end_capture(stream, fixed ? 2 : 1);

    CHECK(cudaDeviceSynchronize());
    bool right = second_launch_sees(exec, stream, source, result);
    return finish(!broken && right);
}
