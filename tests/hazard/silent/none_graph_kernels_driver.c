// expect: none
// options: device=1:kernels=order
//
// Graphs with kernels, whose memory other streams use in order: by events around the launches, by
// events that nodes record and wait for, by launches of one exec that follow each other. And
// memory that a node does not use any more: it is disabled, has other parameters, or the exec was
// updated.
#include "graphs_driver.h"
#include "kernel.h"

static CUfunction kernel;
static CUstream upload, compute, other;
static CUevent uploaded, computed;
static void *source;
static CUdeviceptr input, result, spare;

static CUgraph captured(CUdeviceptr to, CUdeviceptr from)
{
    CUgraph graph = NULL;
    CHECK(cuStreamBeginCapture(compute, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_copy(kernel, to, from, compute);
    CHECK(cuStreamEndCapture(compute, &graph));
    return graph;
}

static CUgraphExec instantiated(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static CUgraphNode only_node(CUgraph graph)
{
    CUgraphNode node = NULL;
    size_t count = 1;
    CHECK(cuGraphGetNodes(graph, &node, &count));
    return node;
}

static void put_behind(CUstream stream, CUevent event, CUstream earlier)
{
    CHECK(cuEventRecord(event, earlier));
    CHECK(cuStreamWaitEvent(stream, event, 0));
}

static void events_around(void)
{
    CUgraphExec exec = instantiated(captured(result, input));
    for (int turn = 0; turn < 3; turn++) {
        if (turn == 0)
            driver_busy(upload);
        CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
        put_behind(compute, uploaded, upload);
        CHECK(cuGraphLaunch(exec, compute));
        put_behind(upload, computed, compute);
    }
    CHECK(cuCtxSynchronize());
}

/* A launch on another stream comes after the one before, and what that came after. */
static void one_exec_on_two_streams(void)
{
    CUgraphExec exec = instantiated(captured(result, input));
    driver_busy(compute);
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, compute));
    CHECK(cuGraphLaunch(exec, compute));
    CHECK(cuGraphLaunch(exec, other));
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, other));
    CHECK(cuCtxSynchronize());
}

static void events_of_nodes(void)
{
    CUgraph graph = NULL;
    CUgraphNode waits = NULL, copies = NULL, records = NULL;
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&result, &input, &count};
    CUDA_KERNEL_NODE_PARAMS node = copy_node_params(kernel, parameters);
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddEventWaitNode(&waits, graph, NULL, 0, uploaded));
    CHECK(cuGraphAddKernelNode(&copies, graph, &waits, 1, &node));
    CHECK(cuGraphAddEventRecordNode(&records, graph, &copies, 1, computed));
    CUgraphExec exec = instantiated(graph);
    for (int turn = 0; turn < 2; turn++) {
        driver_busy(upload);
        CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
        CHECK(cuEventRecord(uploaded, upload));
        CHECK(cuGraphLaunch(exec, compute));
        CHECK(cuStreamWaitEvent(upload, computed, 0));
    }
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
    CHECK(cuCtxSynchronize());
}

/* 0: disabled, 1 and 2: other parameters, 3: updated. */
static void not_used_any_more(int way)
{
    CUgraph graph = captured(result, input);
    CUgraphExec exec = instantiated(graph);
    unsigned count = (unsigned)SMALL;
    void *parameters[] = {&result, &spare, &count};
    CUDA_KERNEL_NODE_PARAMS params = copy_node_params(kernel, parameters);
    CUgraphNodeParams any;
    CUgraphExecUpdateResultInfo info;
    memset(&any, 0, sizeof any);
    any.type = CU_GRAPH_NODE_TYPE_KERNEL;
    memcpy(&any.kernel, &params, sizeof params);
    if (way == 0)
        CHECK(cuGraphNodeSetEnabled(exec, only_node(graph), 0));
    else if (way == 1)
        CHECK(cuGraphExecKernelNodeSetParams(exec, only_node(graph), &params));
    else if (way == 2)
        CHECK(cuGraphExecNodeSetParams(exec, only_node(graph), &any));
    else
        CHECK(cuGraphExecUpdate(exec, captured(result, spare), &info));
    driver_busy(upload);
    CHECK(cuMemcpyHtoDAsync(input, source, SMALL, upload));
    CHECK(cuGraphLaunch(exec, compute));
    CHECK(cuCtxSynchronize());
}

int main(void)
{
    driver_start();
    kernel = copying_kernel();
    upload = driver_new_stream();
    compute = driver_new_stream();
    other = driver_new_stream();
    uploaded = driver_new_event();
    computed = driver_new_event();
    source = driver_pinned_block(SMALL, WANTED);
    input = driver_device_block(SMALL, FOREIGN);
    spare = driver_device_block(SMALL, WANTED);
    result = driver_device_block(SMALL, 0);
    events_around();
    one_exec_on_two_streams();
    events_of_nodes();
    for (int way = 0; way < 4; way++)
        not_used_any_more(way);
    return finish(driver_device_holds(result, SMALL, WANTED));
}
