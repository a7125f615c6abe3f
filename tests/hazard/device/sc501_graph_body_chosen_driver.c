// expect: SC501 action=ordered kind=device direction=memset event=cuMemcpyHtoDAsync_v2
// options: device=1
//
// Of three bodies the condition chooses the second one, which clears a buffer. A node behind
// records an event, for which another stream waits before it fills a buffer. In the racy build the
// event stands before the bodies. A kernel behind them sets no condition in time.
#include "conditional.h"
#include "kernel.h"

static CUgraphNode add_record(CUgraph graph, const CUgraphNode *behind, CUevent event)
{
    CUgraphNode node = NULL;
    CHECK(cuGraphAddEventRecordNode(&node, graph, behind, behind ? 1 : 0, event));
    return node;
}

static CUgraphNode last_of(CUgraph graph)
{
    CUgraphNode nodes[2] = {NULL, NULL};
    size_t count = 2;
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    return nodes[count - 1];
}

static CUgraphNode add_choice(CUgraph graph, const CUgraphNode *behind, CUdeviceptr memory)
{
    CUgraphConditionalHandle handle = condition_of(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    const CUgraph *bodies =
        bodies_behind(graph, behind, behind ? 1 : 0, handle, CU_GRAPH_COND_TYPE_SWITCH, 3);
    add_clear(bodies[1], memory);
    return last_of(graph);
}

int main(void)
{
    driver_start();
    CUstream work = driver_new_stream(), up = driver_new_stream();
    CUevent cleared = driver_new_event();
    void *source = driver_pinned_block(SMALL, WANTED);
    CUdeviceptr device = driver_device_block(SMALL, FOREIGN);
    CUdeviceptr to = driver_device_block(SMALL, 0), from = driver_device_block(SMALL, 0);
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL;
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&to, &from, &count};
    const CUDA_KERNEL_NODE_PARAMS kernel = copy_node_params(copying_kernel(), parameters);
    CHECK(cuGraphCreate(&graph, 0));
    if (!fixed)
        node = add_record(graph, NULL, cleared);
    node = add_choice(graph, fixed ? NULL : &node, device);
    if (fixed)
        node = add_record(graph, &node, cleared);
    CHECK(cuGraphAddKernelNode(&node, graph, &node, 1, &kernel));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));

    driver_busy(work);
    CHECK(cuGraphLaunch(exec, work));
    CHECK(cuStreamWaitEvent(up, cleared, 0));
    CHECK(cuMemcpyHtoDAsync(device, source, SMALL, up));

    CHECK(cuCtxSynchronize());
    return finish(driver_device_holds(device, SMALL, WANTED));
}
