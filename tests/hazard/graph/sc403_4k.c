// expect: SC403 action=stalled certainty=observed
//
// A copy of 4 KB runs from a snapshot, but not one that is a node: the page is guarded.
#include "graphs.h"

enum { BYTES = 4096 };

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    void *input = pinned_block(BYTES, WANTED);
    cudaGraphExec_t exec = captured_exec(device, input, BYTES, cudaMemcpyHostToDevice, stream);

    busy(stream);
    CHECK(cudaGraphLaunch(exec, stream));
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    fill(input, BYTES, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(device, BYTES, WANTED) && holds(input, BYTES, FOREIGN));
}
