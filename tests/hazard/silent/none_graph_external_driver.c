// expect: none
// needs: sim
// options: stall_limit=60s
//
// A graph waits for an external semaphore, copies and signals, by nodes that were added by hand.
// The program fills the source when the graph was launched, lets it go on as another party, hears
// of the copy from the semaphore, and fills the source anew. The exec's nodes are changed for each
// turn.
#include "external.h"

enum { TURNS = 3 };

struct nodes {
    CUgraph graph;
    CUgraphNode wait, copy, signal;
};

static struct nodes new_nodes(const struct timeline *timeline, CUdeviceptr device, const void *from)
{
    struct nodes nodes = {0};
    CUexternalSemaphore semaphore = timeline->semaphore;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {0};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {0};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS waits = {&semaphore, &wait, 1};
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals = {&semaphore, &signal, 1};
    CHECK(cuGraphCreate(&nodes.graph, 0));
    nodes.copy = add_copy(nodes.graph, device, from);
    CHECK(cuGraphAddExternalSemaphoresWaitNode(&nodes.wait, nodes.graph, NULL, 0, &waits));
    CHECK(cuGraphAddDependencies(nodes.graph, &nodes.wait, &nodes.copy, NULL, 1));
    CHECK(cuGraphAddExternalSemaphoresSignalNode(&nodes.signal, nodes.graph, &nodes.copy, 1,
                                                 &signals));
    return nodes;
}

static void set_turn(CUgraphExec exec, const struct nodes *nodes, const struct timeline *timeline,
                     uint64_t value)
{
    CUexternalSemaphore semaphore = timeline->semaphore;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = value};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = value + 1};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS waits = {&semaphore, &wait, 1};
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS signals = {&semaphore, &signal, 1};
    CHECK(cuGraphExecExternalSemaphoresWaitNodeSetParams(exec, nodes->wait, &waits));
    CHECK(cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, nodes->signal, &signals));
}

int main(void)
{
    driver_start();
    const struct timeline timeline = imported_timeline();
    CUstream stream = driver_new_stream();
    CUdeviceptr device = driver_device_block(SMALL, 0);
    void *source = driver_pinned_block(SMALL, 0);
    const struct nodes nodes = new_nodes(&timeline, device, source);
    CUgraphExec exec = NULL;
    bool right = true;
    CHECK(cuGraphInstantiateWithFlags(&exec, nodes.graph, 0));

    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint64_t value = 2 * turn + 1;
        set_turn(exec, &nodes, &timeline, value);
        CHECK(cuGraphLaunch(exec, stream));
        fill(source, SMALL, turn);
        party_signals(&timeline, value);
        party_waits(&timeline, value + 1);
        fill(source, SMALL, FOREIGN);
        CHECK(cuStreamSynchronize(stream));
        right = right && driver_device_holds(device, SMALL, turn);
    }
    return finish(right);
}
