/* probe_graphs: asks the CUDA driver about frees and mistakes during a capture, and about graphs:
 * children, execs, kinds of memory, events and host functions. The answers are in docs/driver.md.
 *
 *     gcc -std=gnu11 -O2 -pthread -I. -I/usr/local/cuda/include tests/gpu/probes/probe_graphs.c \
 *         tests/gpu/asking.c -o probe_graphs -ldl -lcuda
 *     ./probe_graphs              every question, under 30 s
 *     ./probe_graphs child        these only
 *
 * `a/b` are the results of a call during a capture and of cuStreamEndCapture.
 */
#include "../asking.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <string.h>

enum { BUSY_MS = 200 };

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
        .WidthInBytes = BLOCK_BYTES,
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

/* ---- calls that name nothing, while a stream captures ---- */

static CUresult query_no_event(void)
{
    return cuEventQuery(NULL);
}

static CUresult synchronise_no_event(void)
{
    return cuEventSynchronize(NULL);
}

static CUresult destroy_no_exec(void)
{
    return cuGraphExecDestroy(NULL);
}

static CUresult instantiate_no_graph(void)
{
    CUgraphExec exec = NULL;
    return cuGraphInstantiateWithFlags(&exec, NULL, 0);
}

static CUresult unload_no_module(void)
{
    return cuModuleUnload(NULL);
}

static CUresult destroy_no_array(void)
{
    return cuArrayDestroy(NULL);
}

static CUresult register_nothing(void)
{
    return cuMemHostRegister(NULL, BLOCK_BYTES, 0);
}

static CUresult allocate_nothing(void)
{
    CUdeviceptr block = 0;
    return cuMemAlloc(&block, 0);
}

static CUresult allocate_nowhere(void)
{
    return cuMemAlloc(NULL, BLOCK_BYTES);
}

static CUresult pin_with_bad_flags(void)
{
    void *block = NULL;
    return cuMemHostAlloc(&block, BLOCK_BYTES, 1U << 20);
}

static const struct {
    const char *name;
    CUresult (*call)(void);
} mistakes[] = {
    {"cuEventQuery(NULL)", query_no_event},
    {"cuEventSynchronize(NULL)", synchronise_no_event},
    {"cuGraphExecDestroy(NULL)", destroy_no_exec},
    {"cuGraphInstantiate of NULL", instantiate_no_graph},
    {"cuModuleUnload(NULL)", unload_no_module},
    {"cuArrayDestroy(NULL)", destroy_no_array},
    {"cuMemHostRegister(NULL)", register_nothing},
    {"cuMemAlloc of 0 bytes", allocate_nothing},
    {"cuMemAlloc into NULL", allocate_nowhere},
    {"cuMemHostAlloc, unknown flags", pin_with_bad_flags},
};

static void ask_mistakes(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < COUNT(mistakes) && begin_part((unsigned)i + 1); i++) {
        CUgraph graph = NULL;
        say("mistake %s:", mistakes[i].name);
        say(" %d;", (int)mistakes[i].call());
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUresult result = mistakes[i].call();
        say(" in a capture %d/%d\n", (int)result, (int)cuStreamEndCapture(stream, &graph));
    }
}

/* On a thread without a context. */
static void *make_mistake(void *mistake)
{
    CUresult (*call)(void) = *(CUresult(**)(void))mistake;
    return (void *)(uintptr_t)call();
}

static CUresult call_elsewhere(CUresult (*call)(void))
{
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, make_mistake, &call);
    pthread_join(thread, &result);
    return (CUresult)(uintptr_t)result;
}

static CUresult allocate_some(void)
{
    CUdeviceptr block = 0;
    return cuMemAlloc(&block, BLOCK_BYTES);
}

static CUresult pin_some(void)
{
    void *block = NULL;
    return cuMemHostAlloc(&block, BLOCK_BYTES, 0);
}

static CUresult synchronise_context(void)
{
    return cuCtxSynchronize();
}

static const struct {
    const char *name;
    CUresult (*call)(void);
} strays[] = {
    {"cuMemFree(0)", free_zero},
    {"cuMemFreeHost(NULL)", free_host_null},
    {"cuMemAlloc", allocate_some},
    {"cuMemHostAlloc", pin_some},
    {"cuCtxSynchronize", synchronise_context},
};

static void ask_without_context(void)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < COUNT(strays); i++) {
        CUgraph graph = NULL;
        say("without a context %s: %d;", strays[i].name, (int)call_elsewhere(strays[i].call));
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        CUresult result = call_elsewhere(strays[i].call);
        say(" while another thread captures %d/%d\n", (int)result,
            (int)cuStreamEndCapture(stream, &graph));
    }
}

/* ---- the runtime's frees of nothing ---- */

static void ask_runtime_frees(void)
{
    static const char *const names[] = {"cudaFree", "cudaFreeHost"};
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (!runtime)
        runtime = dlopen("libcudart.so", RTLD_NOW);
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < COUNT(names); i++) {
        int (*free_it)(void *) = runtime ? (int (*)(void *))dlsym(runtime, names[i]) : NULL;
        CUgraph graph = NULL;
        if (!free_it) {
            say(" no runtime;");
            continue;
        }
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        int result = free_it(NULL);
        say(" %s(NULL) in a capture %d/%d;", names[i], result,
            (int)cuStreamEndCapture(stream, &graph));
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

/* By the name of the node that the child was made with, or moved with. */
static void ask_inner(CUgraphExec exec, CUgraphNode node, const char *what)
{
    const CUDA_MEMCPY3D copy = copy_of(CU_MEMORYTYPE_HOST, pinned_block(), device_block());
    unsigned enabled = 2;
    CUresult set = cuGraphExecMemcpyNodeSetParams(exec, node, &copy, primary);
    CUresult disabled = cuGraphNodeSetEnabled(exec, node, 0);
    CUresult got = cuGraphNodeGetEnabled(exec, node, &enabled);
    say("child, a node within it, %s: changed in the exec %d, disabled %d, asked %d: %u\n", what,
        (int)set, (int)disabled, (int)got, enabled);
}

static CUgraphNode only_node_of_child(CUgraphNode node)
{
    CUgraph inside = NULL;
    CUgraphNode only = NULL;
    size_t count = 1;
    TRY(cuGraphChildGraphNodeGetGraph(node, &inside));
    TRY(cuGraphGetNodes(inside, &only, &count));
    return only;
}

static void ask_child(void)
{
    CUgraph graph = new_graph();
    CUgraph child = new_graph();
    CUgraph moved = new_graph();
    CUdeviceptr to = device_block();
    void *from = pinned_block();
    CUgraphNode childs = add_copy(child, CU_MEMORYTYPE_HOST, from, to);
    CUgraphNode moveds = add_copy(moved, CU_MEMORYTYPE_HOST, from, to);
    CUgraphNode node = add_child(graph, child, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE);
    add_child(graph, moved, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE);
    CUgraphExec exec = exec_of(graph);
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    params.graph.graph = child;
    say("child, cuGraphExecNodeSetParams: %d\n",
        (int)cuGraphExecNodeSetParams(exec, node, &params));
    ask_inner(exec, moveds, "of a moved child");
    ask_inner(exec, childs, "of the graph that was cloned");
    ask_inner(exec, only_node_of_child(node), "of the clone");
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

static CUresult copy_to_device(CUdeviceptr to, const void *from, CUstream stream)
{
    return cuMemcpyHtoDAsync(to, from, BLOCK_BYTES, stream);
}

static CUresult copy_anywhere(CUdeviceptr to, const void *from, CUstream stream)
{
    return cuMemcpyAsync(to, uva(from), BLOCK_BYTES, stream);
}

static void ask_captured_type(CUresult (*copy_by)(CUdeviceptr, const void *, CUstream),
                              const char *what, const void *from)
{
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr to = device_block();
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {.Depth = 0};
    size_t count = 1;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY(copy_by(to, from, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphGetNodes(graph, &node, &count));
    TRY(cuGraphMemcpyNodeGetParams(node, &copy));
    say("types %s: captured, and told as %d to %d\n", what, (int)copy.srcMemoryType,
        (int)copy.dstMemoryType);
}

static void ask_types(void)
{
    static unsigned char pageable[BLOCK_BYTES];
    void *pinned = pinned_block();
    ask_type(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_UNIFIED, "pinned", pinned);
    ask_type(CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_HOST, "pinned", pinned);
    ask_type(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST, "pageable", pageable);
    ask_captured_type(copy_to_device, "pinned, cuMemcpyHtoDAsync", pinned);
    ask_captured_type(copy_to_device, "pageable, cuMemcpyHtoDAsync", pageable);
    ask_captured_type(copy_anywhere, "pinned, cuMemcpyAsync", pinned);
    ask_captured_type(copy_anywhere, "pageable, cuMemcpyAsync", pageable);
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

static CUstream blocking;
static CUgraphExec upload_exec;

static CUresult upload(void)
{
    return cuGraphUpload(upload_exec, LEGACY);
}

static CUresult upload_nothing(void)
{
    return cuGraphUpload(NULL, LEGACY);
}

static CUresult upload_captured(void)
{
    return cuGraphUpload(upload_exec, blocking);
}

static CUresult flags_to_nowhere(void)
{
    return cuStreamGetFlags(LEGACY, NULL);
}

static CUresult discard(void)
{
    static CUdeviceptr block;
    size_t size = BLOCK_BYTES;
    if (!block)
        TRY(cuMemAllocManaged(&block, BLOCK_BYTES, CU_MEM_ATTACH_GLOBAL));
    return cuMemDiscardBatchAsync(&block, &size, 1, 0, LEGACY);
}

static CUresult context_of_legacy(void)
{
    CUcontext context = NULL;
    return cuStreamGetCtx(LEGACY, &context);
}

static const struct {
    const char *name;
    CUresult (*call)(void);
} legacy_calls[] = {
    {"cuGraphUpload, legacy", upload},
    {"cuGraphUpload of nothing, legacy", upload_nothing},
    {"cuGraphUpload, capturing", upload_captured},
    {"cuStreamGetFlags, legacy, into NULL", flags_to_nowhere},
    {"cuStreamGetCtx, legacy", context_of_legacy},
    {"cuMemDiscardBatchAsync, legacy", discard},
};

static void ask_legacy_calls(void)
{
    CUgraph graph = new_graph();
    blocking = new_stream(CU_STREAM_DEFAULT);
    add_copy(graph, CU_MEMORYTYPE_HOST, pinned_block(), device_block());
    upload_exec = exec_of(graph);
    discard(); /* has its memory from now on */
    for (size_t i = 0; i < COUNT(legacy_calls); i++) {
        CUgraph captured = NULL;
        TRY(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
        CUresult result = legacy_calls[i].call();
        say("while a blocking stream captures %s: %d/%d\n", legacy_calls[i].name, (int)result,
            (int)cuStreamEndCapture(blocking, &captured));
    }
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

/* ---- memory that is registered or unregistered after its node was captured ---- */

/* A graph of one captured copy: up out of `host`, or down into it. */
static CUgraph captured(CUstream stream, void *host, CUdeviceptr block, bool up)
{
    CUgraph graph = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    if (up)
        TRY(cuMemcpyHtoDAsync(block, host, BLOCK_BYTES, stream));
    else
        TRY(cuMemcpyDtoHAsync(host, block, BLOCK_BYTES, stream));
    TRY(cuStreamEndCapture(stream, &graph));
    return graph;
}

static void ask_registered_later(void)
{
    static char target[BLOCK_BYTES], source[BLOCK_BYTES];
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = 0;
    TRY(cuMemAlloc(&block, BLOCK_BYTES));
    CUgraphExec down = exec_of(captured(stream, target, block, false));
    CUgraphExec up = exec_of(captured(stream, source, block, true));
    TRY(cuMemHostRegister(target, BLOCK_BYTES, 0));
    TRY(cuMemHostRegister(source, BLOCK_BYTES, 0));
    keep_busy(stream);
    say(" of a copy into it takes %.0f ms,", MS(cuGraphLaunch(down, stream)));
    keep_busy(stream);
    source[0] = 1;
    TRY(cuGraphLaunch(up, stream));
    source[0] = 2;
    TRY(cuStreamSynchronize(stream));
    char read = 0;
    TRY(cuMemcpyDtoH(&read, block, 1));
    say(" one of a copy out of it has read what was there %s", read == 1 ? "then" : "later");
}

/* `again`: how the exec is mended, if at all. */
static void launch_registered_again(const char *again)
{
    static char source[BLOCK_BYTES];
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    CUdeviceptr block = 0;
    CUgraphExecUpdateResultInfo info;
    size_t count = 1;
    CUgraphNode node = NULL;
    TRY(cuMemAlloc(&block, BLOCK_BYTES));
    TRY(cuMemHostRegister(source, BLOCK_BYTES, 0));
    CUgraph graph = captured(stream, source, block, true);
    CUgraphExec exec = exec_of(graph);
    TRY(cuMemHostUnregister(source));
    TRY(cuMemHostRegister(source, BLOCK_BYTES, 0));
    CUDA_MEMCPY3D copy = copy_of(CU_MEMORYTYPE_HOST, source, block);
    TRY(cuGraphGetNodes(graph, &node, &count));
    if (strcmp(again, "instantiated again") == 0)
        exec = exec_of(graph);
    else if (strcmp(again, "updated from its graph") == 0)
        TRY(cuGraphExecUpdate(exec, graph, &info));
    else if (strcmp(again, "updated from a new capture") == 0)
        TRY(cuGraphExecUpdate(exec, captured(stream, source, block, true), &info));
    else if (strcmp(again, "its node set") == 0)
        TRY(cuGraphExecMemcpyNodeSetParams(exec, node, &copy, primary));
    TRY(cuGraphLaunch(exec, stream));
    say("    %s: the synchronise says %d", again, (int)cuStreamSynchronize(stream));
    end_line();
}

static void ask_registered_again(void)
{
    static const char *const ways[] = {"as it was", "instantiated again", "updated from its graph",
                                       "updated from a new capture", "its node set"};
    for (unsigned i = 0; i < COUNT(ways); i++)
        if (begin_part(i + 1)) {
            launch_registered_again(ways[i]);
            TRY(cuDevicePrimaryCtxReset(0));
            TRY(enter_primary());
        }
}

static const struct question questions[] = {
    {.name = "frees", .ask = ask_frees},
    {.name = "mistakes", .ask = ask_mistakes},
    {.name = "no-context", .ask = ask_without_context},
    {.name = "child", .ask = ask_child},
    {.name = "enabled", .ask = ask_enabled, .text = "cuGraphExecUpdate with a disabled node"},
    {.name = "types", .ask = ask_types},
    {.name = "node-event", .ask = ask_node_event, .text = "events that nodes record"},
    {.name = "external", .ask = ask_external_event, .text = "an event that is external"},
    {.name = "legacy", .ask = ask_legacy_calls},
    {.name = "stack", .ask = ask_stack, .text = "who calls host functions"},
    {.name = "registered-later",
     .ask = ask_registered_later,
     .text = "memory registered between capture and launch: a launch"},
    {.name = "registered-again", .ask = ask_registered_again, .ends_context = true},
    {.name = "runtime-frees", .ask = ask_runtime_frees, .text = "frees of nothing"},
};

int main(int argc, char **argv)
{
    static const struct inquiry inquiry = {
        .program = "probe_graphs",
        .questions = questions,
        .count = COUNT(questions),
        .set_up = enter_primary,
        .question_s = 12,
    };

    return ask_all(&inquiry, argc, argv);
}
