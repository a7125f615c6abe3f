// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// The graph's result lands in registered heap memory that has been freed: in its next owner.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, WANTED);
    void *target = registered_block(SMALL, 0);
    cudaGraphExec_t exec = captured_exec(target, device, SMALL, cudaMemcpyDeviceToHost, stream);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(target));
    }
    free(target);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(holds(owner, SMALL, FOREIGN));
}
