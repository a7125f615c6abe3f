// expect: none
//
// The pattern of everybody who replays: a static pinned input is filled, the graph is launched, and
// the program waits before it fills the input again and reads the static output.
#include "graphs.h"

enum { TURNS = 50 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, 0);
    void *output = pinned_block(SMALL, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, input, SMALL, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(output, device, SMALL, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    bool right = true;
    for (int turn = 0; turn < TURNS; turn++) {
        fill(input, SMALL, turn);
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        right = right && holds(output, SMALL, turn);
        fill(output, SMALL, FOREIGN);
    }

    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaFreeHost(input));
    CHECK(cudaFreeHost(output));
    return finish(right);
}
