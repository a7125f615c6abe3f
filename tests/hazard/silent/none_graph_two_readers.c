// expect: none
//
// Two graphs, launched on two streams, read one pinned input, and write halves of one output.
#include "graphs.h"

static cudaGraphExec_t record(void *device, const void *input, void *output, cudaStream_t stream)
{
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    return instantiate_only(end_capture(stream));
}

int main(void)
{
    cudaStream_t first = new_stream();
    cudaStream_t second = new_stream();
    void *input = pinned_block(SMALL, WANTED);
    unsigned char *output = (unsigned char *)pinned_block(2 * SMALL, 0);
    cudaGraphExec_t one = record(device_block(SMALL, 0), input, output, first);
    cudaGraphExec_t two = record(device_block(SMALL, 0), input, output + SMALL, second);

    busy(first);
    CHECK(cudaGraphLaunch(one, first));
    CHECK(cudaGraphLaunch(two, second));
    CHECK(cudaStreamSynchronize(first));
    CHECK(cudaStreamSynchronize(second));
    return finish(holds(output, SMALL, WANTED) && holds(output + SMALL, SMALL, WANTED));
}
