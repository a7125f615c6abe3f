// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
// options: stacks=none
//
// The report has no whole stacks. The frame of the local is looked for all the same.
#include "graphs.h"

enum { BYTES = 64 };

static TWIN_HELPER cudaGraphExec_t build(void *device)
{
    static unsigned char kept[BYTES];
    unsigned char parameters[BYTES];
    cudaGraph_t graph = empty_graph();
    fill(fixed ? kept : parameters, BYTES, WANTED);
    added_copy(graph, device, fixed ? kept : parameters, BYTES, cudaMemcpyHostToDevice);
    return instantiate_only(graph);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraphExec_t exec = build(device);

    reuse_stack();
    replay(exec, stream);
    return finish(device_holds(device, BYTES, WANTED));
}
