// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph's result lands in pinned memory that has been given back and handed out again.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = pinned_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, stream);

    if (fixed)
        replay(exec, stream);
    CHECK(cudaFreeHost(target));
    void *owner = pinned_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    bool right = holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
