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
#include <unistd.h>

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
    return cuMemHostRegister(NULL, BYTES, 0);
}

static CUresult allocate_nothing(void)
{
    CUdeviceptr block = 0;
    return cuMemAlloc(&block, 0);
}

static CUresult allocate_nowhere(void)
{
    return cuMemAlloc(NULL, BYTES);
}

static CUresult pin_with_bad_flags(void)
{
    void *block = NULL;
    return cuMemHostAlloc(&block, BYTES, 1U << 20);
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

static void ask_without_context(void)
{
    CUcontext context = NULL;
    TRY(cuCtxPopCurrent(&context));
    say(" cuMemFree(0): %d, cuMemFreeHost(NULL): %d", (int)cuMemFree(0), (int)cuMemFreeHost(NULL));
    TRY(cuCtxPushCurrent(context));
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

static CUresult copy_to_device(CUdeviceptr to, const void *from, CUstream stream)
{
    return cuMemcpyHtoDAsync(to, from, BYTES, stream);
}

static CUresult copy_anywhere(CUdeviceptr to, const void *from, CUstream stream)
{
    return cuMemcpyAsync(to, uva(from), BYTES, stream);
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
    static unsigned char pageable[BYTES];
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

/* ---- what a wait of a stream, or of a context, holds up ---- */

static CUgreenCtx waiting_green;

static CUresult wait_of_stream(CUstream stream, CUevent event)
{
    return cuStreamWaitEvent(stream, event, 0);
}

static CUresult wait_of_context(CUstream stream, CUevent event)
{
    (void)stream;
    return cuCtxWaitEvent(primary, event);
}

static CUresult wait_of_green(CUstream stream, CUevent event)
{
    (void)stream;
    return cuGreenCtxWaitEvent(waiting_green, event);
}

static CUstream own_stream(void)
{
    return new_stream(CU_STREAM_NON_BLOCKING);
}

static CUstream blocking_stream(void)
{
    return new_stream(CU_STREAM_DEFAULT);
}

static CUstream green_stream(void)
{
    CUstream stream = NULL;
    TRY(cuGreenCtxStreamCreate(&stream, waiting_green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static CUstream legacy_stream(void)
{
    return CU_STREAM_LEGACY;
}

static CUstream thread_stream(void)
{
    return CU_STREAM_PER_THREAD;
}

static const struct {
    const char *name;
    CUresult (*wait)(CUstream, CUevent);
    CUstream (*stream)(void);
    bool later; /* the stream is made behind the wait */
} waits[] = {
    {"a stream's, its own", wait_of_stream, own_stream, false},
    {"the context's, a stream", wait_of_context, own_stream, false},
    {"the context's, a blocking stream", wait_of_context, blocking_stream, false},
    {"the context's, a stream made later", wait_of_context, own_stream, true},
    {"the context's, the legacy stream", wait_of_context, legacy_stream, false},
    {"the context's, the per-thread stream", wait_of_context, thread_stream, false},
    {"the context's, a green stream", wait_of_context, green_stream, false},
    {"the context's, a green stream made later", wait_of_context, green_stream, true},
    {"the green one's, a green stream", wait_of_green, green_stream, false},
    {"the green one's, a green stream made later", wait_of_green, green_stream, true},
    {"the green one's, a stream of the primary one", wait_of_green, own_stream, false},
};

static CUdeviceptr waits_device;
static void *waits_pinned;

static void tell_query(CUstream stream, CUevent event)
{
    (void)event;
    say(" query %d,", (int)cuStreamQuery(stream));
}

static void tell_synchronise(CUstream stream, CUevent event)
{
    (void)event;
    say(" synchronise %.0f ms,", MS(cuStreamSynchronize(stream)));
}

static void tell_recorded(CUstream stream, CUevent event)
{
    TRY(cuEventRecord(event, stream));
    say(" event recorded there %d,", (int)cuEventQuery(event));
}

static void tell_copied(CUstream stream, CUevent event)
{
    TRY(cuMemcpyHtoDAsync(waits_device, waits_pinned, BYTES, stream));
    TRY(cuEventRecord(event, stream));
    usleep(20000);
    say(" event behind a copy %d, query %d,", (int)cuEventQuery(event), (int)cuStreamQuery(stream));
}

static void tell_waited_by_another(CUstream stream, CUevent event)
{
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    TRY(cuEventRecord(event, stream));
    TRY(cuStreamWaitEvent(other, event, 0));
    TRY(cuMemcpyHtoDAsync(waits_device, waits_pinned, BYTES, other));
    usleep(20000);
    say(" copy behind that event %d,", (int)cuStreamQuery(other));
    TRY(cuStreamSynchronize(other));
    TRY(cuStreamDestroy(other));
}

/* Of another context as well, and done 60 ms before what is waited for. */
static CUevent early_event;

/* A stream's wait for an event that is complete, or for one that is not, comes next. */
static void tell_wait_for_done(CUstream stream, CUevent event)
{
    (void)event;
    TRY(cuEventSynchronize(early_event));
    TRY(cuStreamWaitEvent(stream, early_event, 0));
    say(" behind a wait for what is done query %d,", (int)cuStreamQuery(stream));
}

static void tell_wait_for_work(CUstream stream, CUevent event)
{
    (void)event;
    TRY(cuStreamWaitEvent(stream, early_event, 0));
    say(" behind a wait for 20 ms synchronise %.0f ms,", MS(cuStreamSynchronize(stream)));
}

static void tell_context_event(CUstream stream, CUevent event)
{
    (void)stream;
    TRY(cuCtxRecordEvent(primary, event));
    say(" context's event %d,", (int)cuEventQuery(event));
}

static void tell_green_event(CUstream stream, CUevent event)
{
    (void)stream;
    TRY(cuGreenCtxRecordEvent(waiting_green, event));
    say(" green one's event %d,", (int)cuEventQuery(event));
}

static void tell_context_synchronise(CUstream stream, CUevent event)
{
    (void)stream;
    (void)event;
    say(" cuCtxSynchronize %.0f ms,", MS(cuCtxSynchronize()));
}

static void tell_green_synchronise(CUstream stream, CUevent event)
{
    CUcontext context = NULL;
    (void)stream;
    (void)event;
    TRY(cuCtxFromGreenCtx(&context, waiting_green));
    TRY(cuCtxPushCurrent(context));
    say(" green one's %.0f ms", MS(cuCtxSynchronize()));
    TRY(cuCtxPopCurrent(&context));
}

static void (*const tells[])(CUstream, CUevent) = {
    tell_query,
    tell_synchronise,
    tell_recorded,
    tell_copied,
    tell_waited_by_another,
    tell_wait_for_done,
    tell_wait_for_work,
    tell_context_event,
    tell_green_event,
    tell_context_synchronise,
    tell_green_synchronise,
};

static void ask_wait(size_t number, CUstream early, CUstream busy, CUevent busy_event,
                     CUevent event)
{
    say("waits %s:", waits[number].name);
    for (size_t i = 0; i < COUNT(tells); i++) {
        bool own = waits[number].stream != legacy_stream && waits[number].stream != thread_stream;
        CUstream stream = waits[number].later ? NULL : waits[number].stream();
        TRY(cuLaunchHostFunc(early, sleeper, (void *)(uintptr_t)20));
        TRY(cuEventRecord(early_event, early));
        TRY(cuLaunchHostFunc(busy, sleeper, (void *)(uintptr_t)60));
        TRY(cuEventRecord(busy_event, busy));
        TRY(waits[number].wait(stream, busy_event));
        if (waits[number].later)
            stream = waits[number].stream();
        tells[i](stream, event);
        TRY(cuStreamSynchronize(busy));
        TRY(cuCtxSynchronize());
        if (own)
            TRY(cuStreamDestroy(stream));
    }
    end_line();
}

static void ask_waits_for(CUcontext busy_one)
{
    TRY(cuCtxSetCurrent(busy_one));
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream early = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent busy_event = new_event();
    early_event = new_event();
    TRY(cuCtxSetCurrent(primary));
    CUevent event = new_event();
    TRY(make_green_context(&waiting_green));
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(waits); i++)
        ask_wait(i, early, busy, busy_event, event);
}

static void ask_waits(void)
{
    CUcontext another = NULL;
    TRY(cuCtxCreate(&another, NULL, 0, device));
    ask_waits_for(another);
}

/* With two contexts at work, the GPU may also do one's work before the other's. */
static void ask_waits_within(void)
{
    ask_waits_for(primary);
}

/* ---- what makes a stream join what its context waits for, and which frees wait for that ---- */

static CUresult copy_nothing(CUstream stream)
{
    return cuMemcpyHtoDAsync(waits_device, waits_pinned, 0, stream);
}

static CUresult set_nothing(CUstream stream)
{
    return cuMemsetD8Async(waits_device, 0, 0, stream);
}

static CUresult set_bytes(CUstream stream)
{
    return cuMemsetD8Async(waits_device, 0, BYTES, stream);
}

static CUresult fail_to_set(CUstream stream)
{
    return cuMemsetD8Async(0x1234000, 0, BYTES, stream);
}

static CUresult launch_function(CUstream stream)
{
    return cuLaunchHostFunc(stream, nothing, NULL);
}

static CUdeviceptr pool_block;

static CUresult allocate_in(CUstream stream)
{
    return cuMemAllocAsync(&pool_block, BYTES, stream);
}

static CUresult free_in(CUstream stream)
{
    return cuMemFreeAsync(pool_block, stream);
}

static CUresult upload_in(CUstream stream)
{
    CUgraph graph = new_graph();
    add_copy(graph, CU_MEMORYTYPE_HOST, waits_pinned, waits_device);
    return cuGraphUpload(exec_of(graph), stream);
}

static CUresult write_value(CUstream stream)
{
    return cuStreamWriteValue32(stream, waits_device, 1, 0);
}

static CUresult free_a_block(CUstream stream)
{
    (void)stream;
    return cuMemFree(device_block());
}

static CUresult free_a_host_block(CUstream stream)
{
    (void)stream;
    return cuMemFreeHost(pinned_block());
}

static CUresult unregister_a_block(CUstream stream)
{
    static unsigned char block[BYTES];
    (void)stream;
    TRY(cuMemHostRegister(block, BYTES, 0));
    return cuMemHostUnregister(block);
}

static const struct {
    const char *name;
    CUresult (*call)(CUstream);
} joins[] = {
    {"a copy of nothing", copy_nothing},
    {"a memset of nothing", set_nothing},
    {"a memset", set_bytes},
    {"a memset that fails", fail_to_set},
    {"a host function", launch_function},
    {"cuMemAllocAsync", allocate_in},
    {"cuMemFreeAsync", free_in},
    {"cuGraphUpload", upload_in},
    {"cuStreamWriteValue32", write_value},
    {"cuMemFree", free_a_block},
    {"cuMemFreeHost", free_a_host_block},
    {"cuMemHostUnregister", unregister_a_block},
};

static void ask_joins(void)
{
    CUcontext another = NULL;
    TRY(cuCtxCreate(&another, NULL, 0, device));
    CUstream busy = new_stream(CU_STREAM_NON_BLOCKING);
    CUevent event = new_event();
    TRY(cuCtxSetCurrent(primary));
    waits_device = device_block();
    waits_pinned = pinned_block();
    for (size_t i = 0; i < COUNT(joins); i++) {
        CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
        TRY(cuLaunchHostFunc(busy, sleeper, (void *)(uintptr_t)60));
        TRY(cuEventRecord(event, busy));
        TRY(cuCtxWaitEvent(primary, event));
        uint64_t begin_ns = now_ns();
        CUresult result = joins[i].call(stream);
        double took_ms = ms_since(begin_ns);
        sleep_ms(10);
        say("joins %s: %d, %.0f ms; a query 10 ms later says %d\n", joins[i].name, (int)result,
            took_ms, (int)cuStreamQuery(stream));
        TRY(cuStreamSynchronize(busy));
        TRY(cuCtxSynchronize());
        TRY(cuStreamDestroy(stream));
    }
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
    {.name = "mistakes", .ask = ask_mistakes},
    {.name = "no-context", .ask = ask_without_context, .text = "without a context"},
    {.name = "child", .ask = ask_child},
    {.name = "enabled", .ask = ask_enabled, .text = "cuGraphExecUpdate with a disabled node"},
    {.name = "types", .ask = ask_types},
    {.name = "node-event", .ask = ask_node_event, .text = "events that nodes record"},
    {.name = "external", .ask = ask_external_event, .text = "an event that is external"},
    {.name = "upload", .ask = ask_upload, .text = "cuGraphUpload"},
    {.name = "stack", .ask = ask_stack, .text = "who calls host functions"},
    {.name = "runtime-frees", .ask = ask_runtime_frees, .text = "frees of nothing"},
    {.name = "waits", .ask = ask_waits},
    {.name = "waits-within", .ask = ask_waits_within},
    {.name = "joins", .ask = ask_joins},
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
