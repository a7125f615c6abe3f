// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The copy was captured, and its node is then pointed at a local.
#include "graphs.h"

enum { BYTES = 64 };

static TWIN_HELPER void point(cudaGraph_t graph, void *device)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    size_t count = 1;
    cudaGraphNode_t node = NULL;
    fill(fixed ? kept : local, BYTES, WANTED);
    CHECK(cudaGraphGetNodes(graph, &node, &count));
    CHECK(cudaGraphMemcpyNodeSetParams1D(node, device, fixed ? kept : local, BYTES,
                                         cudaMemcpyHostToDevice));
}

int main(void)
{
    static unsigned char first[BYTES];
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraph_t graph = captured_copy(device, first, BYTES, cudaMemcpyHostToDevice, stream);
    point(graph, device);

    reuse_stack();
    replay(instantiate_only(graph), stream);
    return finish(device_holds(device, BYTES, WANTED));
}
