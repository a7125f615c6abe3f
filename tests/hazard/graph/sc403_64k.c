// expect: SC403 action=stalled certainty=observed
//
// An input of 64 KB, in a loop that has synchronised in all turns but the last.
#include "graphs.h"

enum { TURNS = 4 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    for (int turn = 0; turn < TURNS; turn++) {
        fill(input, SMALL, turn == TURNS - 1 ? WANTED : turn);
        busy(stream);
        CHECK(cudaGraphLaunch(exec, stream));
        if (fixed || turn < TURNS - 1)
            CHECK(cudaStreamSynchronize(stream));
    }
    fill(input, SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, SMALL, WANTED) && holds(input, SMALL, FOREIGN));
}
