// expect: none
//
// Round after round the heap and the driver hand out memory that graphs of earlier rounds named:
// other graphs name it now, and plain copies use it.
#include "graphs.h"

enum { ROUNDS = 30 };

static bool round_trip(void *device, unsigned seed, cudaStream_t stream)
{
    void *input = registered_block(SMALL, seed);
    void *output = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));
    replay(exec, stream);
    bool right = holds(output, SMALL, seed);
    CHECK(cudaGraphExecDestroy(exec));

    fill(input, SMALL, seed + 1);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    right = right && holds(output, SMALL, seed + 1);
    CHECK(cudaHostUnregister(input));
    free(input);
    CHECK(cudaFreeHost(output));
    return right;
}

int main(void)
{
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        right = round_trip(device, 3 * i, stream) && right;
    return finish(right);
}
