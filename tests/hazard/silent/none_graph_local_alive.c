// expect: none
//
// The graph reads a local of main and writes another. Each launch sees the value of its time.
#include "graphs.h"

enum { TURNS = 20 };

int main(void)
{
    int step = 0;
    int seen = -1;
    bool right = true;
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof step, 0);
    begin_capture(stream);
    CHECK(cudaMemcpyAsync(device, &step, sizeof step, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemcpyAsync(&seen, device, sizeof seen, cudaMemcpyDeviceToHost, stream));
    cudaGraphExec_t exec = instantiate_only(end_capture(stream));

    for (int turn = 0; turn < TURNS; turn++) {
        step = 100 + turn;
        in_use(&step);
        reuse_stack();
        replay(exec, stream);
        in_use(&seen);
        right = right && seen == 100 + turn;
    }
    return finish(right);
}
