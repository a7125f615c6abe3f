// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The copy out of the local is added to a child graph by that graph's own handle.
#include "graphs.h"

enum { BYTES = 64 };

static TWIN_HELPER void add(cudaGraph_t child, void *device)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    fill(fixed ? kept : local, BYTES, WANTED);
    added_copy(child, device, fixed ? kept : local, BYTES, cudaMemcpyHostToDevice);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraph_t child = empty_graph();
    cudaGraph_t parent = empty_graph();
    cudaGraph_t own = NULL;
    cudaGraphNode_t node = NULL;
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(cudaGraphChildGraphNodeGetGraph(node, &own));
    add(own, device);

    reuse_stack();
    replay(instantiate_only(parent), stream);
    return finish(device_holds(device, BYTES, WANTED));
}
