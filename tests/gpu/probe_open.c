/* probe_open: asks the CUDA driver what the library had to guess about graphs, captures and
 * contexts. What has been answered goes to docs/driver.md, and from there into the rows of a
 * conformance program.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probe_open.c \
 *         tests/gpu/asking.c -o probe_open -ldl -lcuda
 *     ./probe_open              every question, under 30 s
 *     ./probe_open child        these only
 *
 * `a/b` are the results of a call during a capture and of cuStreamEndCapture.
 */
#include "asking.h"

#include "tests/green_context.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

enum { BUSY_MS = 200, BYTES = 64 << 10 };

static CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    TRY(cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent new_event(void)
{
    CUevent event = NULL;
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    TRY(cuGraphCreate(&graph, 0));
    return graph;
}

static CUgraphExec exec_of(CUgraph graph)
{
    CUgraphExec exec = NULL;
    TRY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
}

static CUdeviceptr device_block(void)
{
    CUdeviceptr block = 0;
    TRY(cuMemAlloc(&block, BYTES));
    return block;
}

static void *pinned_block(void)
{
    void *block = NULL;
    TRY(cuMemHostAlloc(&block, BYTES, 0));
    return block;
}

static void keep_busy(CUstream stream)
{
    TRY(cuLaunchHostFunc(stream, sleeper, (void *)(uintptr_t)BUSY_MS));
}

static CUDA_MEMCPY3D copy_of(CUmemorytype type, const void *from, CUdeviceptr to)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = type,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = to,
        .WidthInBytes = BYTES,
        .Height = 1,
        .Depth = 1,
    };
    if (type == CU_MEMORYTYPE_HOST)
        copy.srcHost = from;
    else
        copy.srcDevice = uva(from);
    return copy;
}

static CUgraphNode add_copy(CUgraph graph, CUmemorytype type, const void *from, CUdeviceptr to)
{
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = copy_of(type, from, to);
    TRY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, primary));
    return node;
}

/* ---- frees of nothing ---- */

static CUresult free_zero(void)
{
    return cuMemFree(0);
}

static CUresult free_host_null(void)
{
    return cuMemFreeHost(NULL);
}

static CUresult free_wild(void)
{
    return cuMemFree(0x1234000);
}

static CUresult free_host_wild(void)
{
    static char not_pinned[64];
    return cuMemFreeHost(not_pinned);
}

static CUresult unregister_wild(void)
{
    static char not_registered[64];
    return cuMemHostUnregister(not_registered);
}

static const struct {
    const char *name;
    CUresult (*call)(void);
} frees[] = {
    {"cuMemFree(0)", free_zero},
    {"cuMemFreeHost(NULL)", free_host_null},
    {"cuMemFree(wild)", free_wild},
    {"cuMemFreeHost(wild)", free_host_wild},
    {"cuMemHostUnregister(wild)", unregister_wild},
};

static void ask_frees(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < COUNT(frees); i++) {
        CUgraph graph = NULL;
        keep_busy(stream);
        uint64_t begin_ns = now_ns();
        CUresult result = frees[i].call();
        say("free %s: %d, %s;", frees[i].name, (int)result,
            ms_since(begin_ns) > BUSY_MS / 2.0 ? "waits for the context" : "at once");
        TRY(cuStreamSynchronize(stream));
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        result = frees[i].call();
        say(" in a capture %d/%d\n", (int)result, (int)cuStreamEndCapture(stream, &graph));
    }
}

/* ---- child graphs ---- */

static CUgraphNode add_child(CUgraph graph, CUgraph child, CUgraphChildGraphNodeOwnership ownership)
{
    CUgraphNode node = NULL;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    params.graph.ownership = ownership;
    CUresult result = cuGraphAddNode(&node, graph, NULL, NULL, 0, &params);
    CUgraph inside = NULL;
    CUresult got = node ? cuGraphChildGraphNodeGetGraph(node, &inside) : CUDA_ERROR_INVALID_VALUE;
    say("child, ownership %d: %d; the parameters %s; the node says %d: %s\n", (int)ownership,
        (int)result, params.graph.graph == child ? "are as they were" : "name another graph",
        (int)got,
        inside == child                ? "the child"
        : inside == params.graph.graph ? "what the parameters name"
                                       : "another graph");
    return node;
}

static void ask_child(void)
{
    CUgraph graph = new_graph();
    CUgraph child = new_graph();
    CUgraph moved = new_graph();
    CUdeviceptr to = device_block();
    void *from = pinned_block();
    add_copy(child, CU_MEMORYTYPE_HOST, from, to);
    add_copy(moved, CU_MEMORYTYPE_HOST, from, to);
    CUgraphNode node = add_child(graph, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
    add_child(graph, moved, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    CUgraphExec exec = exec_of(graph);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    say("child, cuGraphExecNodeSetParams: %d\n",
        (int)cuGraphExecNodeSetParams(exec, node, &params));
}

/* ---- execs ---- */

static void ask_enabled(void)
{
    CUgraph graph = new_graph();
    CUgraphNode node = add_copy(graph, CU_MEMORYTYPE_HOST, pinned_block(), device_block());
    CUgraphExec exec = exec_of(graph);
    CUgraphExecUpdateResultInfo info;
    unsigned enabled = 2;
    TRY(cuGraphNodeSetEnabled(exec, node, 0));
    CUresult result = cuGraphExecUpdate(exec, graph, &info);
    CUresult got = cuGraphNodeGetEnabled(exec, node, &enabled);
    say(" %d, and then the node is %s (%d)", (int)result, enabled == 0 ? "disabled" : "enabled",
        (int)got);
}

/* Of a graph whose copy is described as `made`, an update by one that says `update`. */
static void ask_type(CUmemorytype made, CUmemorytype update, const char *what, const void *from)
{
    CUdeviceptr to = device_block();
    CUgraph first = new_graph();
    CUgraph second = new_graph();
    CUgraphExecUpdateResultInfo info;
    CUDA_MEMCPY3D copy;
    CUgraphNode node = add_copy(first, made, from, to);
    add_copy(second, update, from, to);
    TRY(cuGraphMemcpyNodeGetParams(node, &copy));
    CUgraphExec exec = exec_of(first);
    say("types %s: made as %d, told as %d; an update that says %d: %d\n", what, (int)made,
        (int)copy.srcMemoryType, (int)update, (int)cuGraphExecUpdate(exec, second, &info));
}

static void ask_captured_type(const char *what, const void *from)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr to = device_block();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {.Depth = 0};
    size_t count = 1;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(cuMemcpyHtoDAsync(to, from, BYTES, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphGetNodes(graph, &node, &count));
    TRY(cuGraphMemcpyNodeGetParams(node, &copy));
    say("types %s: captured, and told as %d\n", what, (int)copy.srcMemoryType);
}

static void ask_types(void)
{
    static unsigned char pageable[BYTES];
    void *pinned = pinned_block();
    ask_type(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, "pinned", pinned);
    ask_type(CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_HOST, "pinned", pinned);
    ask_type(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST, "pageable", pageable);
    ask_captured_type("pinned", pinned);
    ask_captured_type("pageable", pageable);
}

/* ---- events that nodes record ---- */

static void ask_node_event(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    TRY(cuGraphAddEventRecordNode(&node, graph, NULL, 0, event));
    CUgraphExec exec = exec_of(graph);
    TRY(cuEventRecord(event, stream));
    TRY(cuEventSynchronize(event));
    keep_busy(stream);
    TRY(cuGraphLaunch(exec, stream));
    CUresult queued = cuEventQuery(event);
    TRY(cuStreamSynchronize(stream));
    say(" behind a queued launch a query of its event says %d, when that is done %d", (int)queued,
        (int)cuEventQuery(event));
}

static void ask_external_event(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    CUgraph graph = NULL;
    keep_busy(busy);
    TRY(cuEventRecord(event, busy));
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    TRY(cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    CUresult during = cuEventQuery(event);
    CUresult end = cuStreamEndCapture(stream, &graph);
    CUresult after = cuEventQuery(event);
    TRY(cuStreamSynchronize(busy));
    say(" recorded behind 200 ms of work, then in a capture: a query says %d/%d, afterwards %d, "
        "when "
        "the work is done %d",
        (int)during, (int)end, (int)after, (int)cuEventQuery(event));
}

/* ---- captures ---- */

static void ask_upload(void)
{
    CUstream blocking = new_stream(CU_STREAM_DEFAULT);
    CUgraph graph = new_graph();
    CUgraph captured = NULL;
    add_copy(graph, CU_MEMORYTYPE_HOST, pinned_block(), device_block());
    CUgraphExec exec = exec_of(graph);
    TRY(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult result = cuGraphUpload(exec, LEGACY);
    say(" in the legacy stream, while a blocking one captures: %d/%d", (int)result,
        (int)cuStreamEndCapture(blocking, &captured));
}

/* ---- host nodes ---- */

static void CUDA_CB look_at_callers(void *found)
{
    void *frames[64];
    int count = backtrace(frames, COUNT(frames));
    for (int i = 0; i < count; i++) {
        Dl_info info;
        if (dladdr(frames[i], &info) && info.dli_fname && strstr(info.dli_fname, "libcuda.so"))
            ++*(int *)found;
    }
}

static void ask_stack(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    int in_node = 0, in_stream = 0;
    CUgraph graph = new_graph();
    CUgraphNode node = NULL;
    CUDA_HOST_NODE_PARAMS params = {look_at_callers, &in_node};
    TRY(cuGraphAddHostNode(&node, graph, NULL, 0, &params));
    CUgraphExec exec = exec_of(graph);
    TRY(cuLaunchHostFunc(stream, look_at_callers, &in_stream));
    TRY(cuGraphLaunch(exec, stream));
    TRY(cuStreamSynchronize(stream));
    say(" frames of libcuda above a host node: %d, above a host function: %d", in_node, in_stream);
}

/* ---- green contexts that hold their primary one ---- */

static int primary_is_active(void)
{
    unsigned flags = 0;
    int active = -1;
    TRY(cuDevicePrimaryCtxGetState(device, &flags, &active));
    return active;
}

static void ask_green_last(void)
{
    CUgreenCtx green = NULL;
    CUstream stream = NULL;
    TRY(make_green_context(&green));
    TRY(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    keep_busy(stream);
    TRY(cuDevicePrimaryCtxRelease(device));
    say(" behind the program's release the primary context's state is %d;", primary_is_active());
    say(" cuGreenCtxDestroy takes %.0f ms (its stream was busy for %d);",
        MS(cuGreenCtxDestroy(green)), BUSY_MS);
    say(" then the state is %d", primary_is_active());
}

static void ask_green_reset(void)
{
    CUgreenCtx green = NULL;
    CUstream stream = NULL;
    TRY(make_green_context(&green));
    TRY(cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    keep_busy(stream);
    say(" cuDevicePrimaryCtxReset takes %.0f ms (a green stream was busy for %d);",
        MS(cuDevicePrimaryCtxReset(device)), BUSY_MS);
    say(" then the state is %d,", primary_is_active());
    say(" and a query of the green stream says %d", (int)cuStreamQuery(stream));
}

static const struct question questions[] = {
    {.name = "frees", .ask = ask_frees},
    {.name = "child", .ask = ask_child},
    {.name = "enabled", .ask = ask_enabled, .text = "cuGraphExecUpdate with a disabled node"},
    {.name = "types", .ask = ask_types},
    {.name = "node-event", .ask = ask_node_event, .text = "events that nodes record"},
    {.name = "external", .ask = ask_external_event, .text = "an event that is external"},
    {.name = "upload", .ask = ask_upload, .text = "cuGraphUpload"},
    {.name = "stack", .ask = ask_stack, .text = "who calls host functions"},
    {.name = "green-last", .ask = ask_green_last, .text = "a green context alone"},
    {.name = "green-reset", .ask = ask_green_reset, .text = "a reset"},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_open",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = enter_primary,
        .question_s = 12,
    };

    return ask_all(&inquiry, argc, argv);
}
