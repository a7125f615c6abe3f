// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
//
// The copy out of the local belongs to a graph that becomes a node of another, elsewhere.
#include "graphs.h"

enum { BYTES = 64 };

static TWIN_HELPER cudaGraph_t record(void *device, cudaStream_t stream)
{
    static unsigned char kept[BYTES];
    unsigned char local[BYTES];
    fill(fixed ? kept : local, BYTES, WANTED);
    return captured_copy(device, fixed ? kept : local, BYTES, cudaMemcpyHostToDevice, stream);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(BYTES, 0);
    cudaGraph_t parent = empty_graph();
    cudaGraphNode_t node = NULL;
    cudaGraph_t child = record(device, stream);
    CHECK(cudaGraphAddChildGraphNode(&node, parent, NULL, 0, child));
    CHECK(cudaGraphDestroy(child));

    reuse_stack();
    replay(instantiate_only(parent), stream);
    return finish(device_holds(device, BYTES, WANTED));
}
