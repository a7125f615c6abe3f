// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// A copy out of a local variable would have been staged in the call; captured, it reads the stack
// when the graph is launched.
#include "graphs.h"

static TWIN_HELPER cudaGraphExec_t record(void *device, cudaStream_t stream)
{
    static uint64_t kept;
    uint64_t local = 0;
    uint64_t *source = fixed ? &kept : &local;
    fill(source, sizeof *source, WANTED);
    return captured_exec(device, source, sizeof *source, cudaMemcpyHostToDevice, stream);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(sizeof(uint64_t), 0);
    cudaGraphExec_t exec = record(device, stream);

    reuse_stack();
    replay(exec, stream);
    return finish(device_holds(device, sizeof(uint64_t), WANTED));
}
