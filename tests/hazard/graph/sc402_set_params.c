// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The node of an exec is pointed at a local, for one launch as the author thought.
#include "graphs.h"

enum { BYTES = 64 };

static TWIN_HELPER void step(cudaGraphExec_t exec, cudaGraphNode_t node, void *device,
                             cudaStream_t stream)
{
    unsigned char parameters[BYTES];
    fill(parameters, BYTES, WANTED);
    CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, node, device, parameters, BYTES,
                                             cudaMemcpyHostToDevice));
    replay(exec, stream);
}

int main(void)
{
    static unsigned char first[BYTES];
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t node = added_copy(graph, device, first, BYTES, cudaMemcpyHostToDevice);
    cudaGraphExec_t exec = instantiate(graph);

    step(exec, node, device, stream);
    bool right = device_holds(device, BYTES, WANTED);
    reuse_stack();
    if (!fixed)
        replay(exec, stream);
    return finish(right && device_holds(device, BYTES, WANTED));
}
