// expect: SC401 action=held certainty=observed event=cuGraphLaunch
//
// A captured copy reads registered heap memory. The block is freed and has its next owner when the
// graph is launched.
#include "graphs.h"

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    void *source = registered_block(SMALL, WANTED);
    cudaGraphExec_t exec = captured_exec(device, source, SMALL, cudaMemcpyHostToDevice, stream);

    if (fixed) {
        replay(exec, stream);
        CHECK(cudaHostUnregister(source));
    }
    free(source);
    void *owner = filled_block(SMALL, FOREIGN);
    if (!fixed)
        replay(exec, stream);

    CHECK(cudaGraphExecDestroy(exec));
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
