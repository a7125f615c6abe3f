// expect: SC403 action=stalled
//
// The nodes of a graph are added last first, and the edges between them later: a copy, a record of
// an event, and the same once more. The racy build fills the source of the second copy when it has
// heard of the first event.
#include "graphs.h"

static void link_nodes(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to)
{
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddDependencies(graph, from, to, NULL, 1));
#else
    CHECK(cudaGraphAddDependencies(graph, from, to, 1));
#endif
}

int main(void)
{
    cudaStream_t stream = new_stream();
    cudaEvent_t copied[2] = {new_event(), new_event()};
    void *devices[2] = {device_block(SMALL, 0), device_block(SMALL, 0)};
    void *inputs[2] = {pinned_block(SMALL, WANTED), pinned_block(SMALL, WANTED)};
    cudaGraph_t graph = empty_graph();
    cudaGraphNode_t nodes[4] = {NULL, NULL, NULL, NULL};
    for (int i = 1; i >= 0; i--) {
        CHECK(cudaGraphAddEventRecordNode(&nodes[2 * i + 1], graph, NULL, 0, copied[i]));
        nodes[2 * i] = added_copy(graph, devices[i], inputs[i], SMALL, cudaMemcpyHostToDevice);
    }
    for (int i = 0; i < 3; i++)
        link_nodes(graph, &nodes[i], &nodes[i + 1]);
    cudaGraphExec_t exec = instantiate_only(graph);

    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventSynchronize(copied[0]));
    fill(inputs[0], SMALL, FOREIGN);
    if (fixed)
        CHECK(cudaEventSynchronize(copied[1]));
    fill(inputs[1], SMALL, FOREIGN);

    CHECK(cudaDeviceSynchronize());
    return finish(device_holds(devices[0], SMALL, WANTED) &&
                  device_holds(devices[1], SMALL, WANTED));
}
