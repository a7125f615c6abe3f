// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured copy reads pinned memory that is given back before the launch. cudaFreeHost finds
// nothing in flight that it could wait for.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = pinned_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed)
        replay(exec, stream);
    CHECK(cudaFreeHost(source));
    void *owner = pinned_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    bool right = device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN);
    CHECK(cudaFreeHost(owner));
    return finish(right);
}
