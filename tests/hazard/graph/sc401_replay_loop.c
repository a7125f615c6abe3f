// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A loop replays a graph and lets go of its input in the first turn, as if the graph had kept it.
#include "graphs.h"

enum { TURNS = 20 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *input = filled_block(SMALL, WANTED);
    void *owner = NULL;
    cudaGraphExec_t exec = captured_exec(device, input, SMALL, cudaMemcpyHostToDevice, stream);

    bool right = true;
    for (int turn = 0; turn < TURNS; turn++) {
        CHECK(cudaMemsetAsync(device, 0, SMALL, stream));
        replay(exec, stream);
        right = right && device_holds(device, SMALL, WANTED);
        if (turn == (fixed ? TURNS - 1 : 0)) {
            free(input);
            owner = filled_block(SMALL, FOREIGN);
        }
    }
    return finish(right && holds(owner, SMALL, FOREIGN));
}
