/*
 * What this driver really does with captures and graphs, as rows of text: the facts of
 * docs/driver.md, Q27 and Q28, that conformance.c does not ask for. It speaks the driver API, since
 * a runtime may make more calls than the one it is asked for.
 *
 *     section | call | variant | answer
 *
 * The answers of captures are "result of the call/result of cuStreamEndCapture". "blocks": what
 * keeps a stream busy was over when the call returned.
 */
#include "asking_calls.h"
#include "rows.h"
#include "tests/copying_kernel.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB ((size_t)1024)
#define MB (1024 * KB)
#define LEGACY CU_STREAM_LEGACY

static CUdevice device;
static CUcontext context;
static CUdeviceptr device_a;

static void CUDA_CB do_nothing(void *unused)
{
    (void)unused;
}

static void CUDA_CB do_nothing_on(CUstream stream, CUresult status, void *unused)
{
    (void)stream, (void)status, (void)unused;
}

static CUstream new_stream(unsigned flags)
{
    CUstream stream = NULL;
    NEED(cuStreamCreate(&stream, flags));
    return stream;
}

/* ---- 6: what each call does to a capture ---- */

/* What one call is about. What is left behind the capture goes with the process. */
static struct {
    CUstream capturing, other;
    CUdeviceptr memory;
    size_t pitch;
    void *host;
    CUarray array;
    CUevent event;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUmodule module;
    CUfunction function;
    CUlibrary library;
    CUkernel kernel;
    CUmemoryPool pool;
} s;

static const char image[] = ".version 7.5\n.target sm_75\n.address_size 64\n"
                            ".visible .entry noop() { ret; }\n";

/* ---- kernels ---- */

static CUresult parameter_of_function(CUfunction function, size_t index, size_t *size)
{
    size_t offset;
    return cuFuncGetParamInfo(function, index, &offset, size);
}

static CUresult parameter_of_kernel(CUkernel kernel, size_t index, size_t *size)
{
    size_t offset;
    return cuKernelGetParamInfo(kernel, index, &offset, size);
}

static void load_function(void)
{
    size_t size;
    NEED(cuModuleLoadData(&s.module, copying_kernel_text));
    NEED(cuModuleGetFunction(&s.function, s.module, "copy_bytes"));
    NEED(parameter_of_function(s.function, 0, &size));
}

static void load_kernel(void)
{
    size_t size;
    NEED(cuLibraryLoadData(&s.library, copying_kernel_text, NULL, NULL, 0, NULL, NULL, 0));
    NEED(cuLibraryGetKernel(&s.kernel, s.library, "copy_bytes"));
    NEED(parameter_of_kernel(s.kernel, 0, &size));
}

/* A launch names either. */
static CUresult copy_by_kernel(void *kernel, CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    uint32_t count = 16;
    void *parameters[] = {&to, &from, &count};
    return cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

static void make_graph(void)
{
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = device_a, .elementSize = 1, .width = 16, .height = 1};
    CUgraphNode node;
    NEED(cuGraphCreate(&s.graph, 0));
    NEED(cuGraphAddMemsetNode(&node, s.graph, NULL, 0, &fill, context));
}

static void make_exec(void)
{
    make_graph();
    NEED(cuGraphInstantiate(&s.exec, s.graph, 0));
}

static void make_registered(void)
{
    s.host = malloc(4 * KB);
    NEED(cuMemHostRegister(s.host, 4 * KB, 0));
}

#define MANAGED NEED(cuMemAllocManaged(&s.memory, 4 * KB, CU_MEM_ATTACH_GLOBAL))

/* X(id, name, what it needs, the call) */
#define CALLS(X)                                                                                   \
    X(hostfn_l, "cuLaunchHostFunc, legacy", NONE, cuLaunchHostFunc(LEGACY, do_nothing, NULL))      \
    X(wait_l, "cuStreamWaitEvent, legacy", NONE, cuStreamWaitEvent(LEGACY, s.event, 0))            \
    X(launch_l, "cuGraphLaunch, legacy", make_exec(), cuGraphLaunch(s.exec, LEGACY))               \
    X(upload_l, "cuGraphUpload, legacy", make_exec(), cuGraphUpload(s.exec, LEGACY))               \
    X(flags_l, "cuStreamGetFlags, legacy", NONE, get_flags(LEGACY))                                \
    X(context_l, "cuStreamGetCtx, legacy", NONE, get_context(LEGACY))                              \
    X(priority_l, "cuStreamGetPriority, legacy", NONE, get_priority(LEGACY))                       \
    X(id_l, "cuStreamGetId, legacy", NONE, get_id(LEGACY))                                         \
    X(alloc_l, "cuMemAllocAsync, legacy", NONE, cuMemAllocAsync(&s.memory, 4 * KB, LEGACY))        \
    X(pitch, "cuMemAllocPitch", NONE, cuMemAllocPitch(&s.memory, &s.pitch, 64, 4, 4))              \
    X(managed, "cuMemAllocManaged", NONE,                                                          \
      cuMemAllocManaged(&s.memory, 4 * KB, CU_MEM_ATTACH_GLOBAL))                                  \
    X(host_alloc, "cuMemHostAlloc", NONE, cuMemHostAlloc(&s.host, 4 * KB, 0))                      \
    X(unregister, "cuMemHostUnregister", make_registered(), cuMemHostUnregister(s.host))           \
    X(free_none, "cuMemFree of nothing", NONE, cuMemFree(0))                                       \
    X(free_host_none, "cuMemFreeHost of nothing", NONE, cuMemFreeHost(NULL))                       \
    X(free_wild, "cuMemFree, no such memory", NONE, cuMemFree(0x1234000))                          \
    X(alloc_none, "cuMemAlloc of 0 bytes", NONE, cuMemAlloc(&s.memory, 0))                         \
    X(exec_none, "cuGraphExecDestroy of nothing", NONE, cuGraphExecDestroy(NULL))                  \
    X(module_none, "cuModuleUnload of nothing", NONE, cuModuleUnload(NULL))                        \
    X(array, "cuArrayCreate", NONE, cuArrayCreate(&s.array, ARRAY))                                \
    X(array_end, "cuArrayDestroy", NEED(cuArrayCreate(&s.array, ARRAY)), cuArrayDestroy(s.array))  \
    X(alloc_n, "cuMemAllocAsync, elsewhere", NONE, cuMemAllocAsync(&s.memory, 4 * KB, s.other))    \
    X(free_n, "cuMemFreeAsync, elsewhere", NEED(cuMemAllocAsync(&s.memory, 4 * KB, s.other)),      \
      cuMemFreeAsync(s.memory, s.other))                                                           \
    X(instantiate, "cuGraphInstantiate", make_graph(), cuGraphInstantiate(&s.exec, s.graph, 0))    \
    X(exec_end, "cuGraphExecDestroy", make_exec(), cuGraphExecDestroy(s.exec))                     \
    X(module_end, "cuModuleUnload", NEED(cuModuleLoadData(&s.module, image)),                      \
      cuModuleUnload(s.module))                                                                    \
    X(pool, "cuMemPoolCreate", NONE, make_pool(&s.pool))                                           \
    X(pool_trim, "cuMemPoolTrimTo", NEED(make_pool(&s.pool)), cuMemPoolTrimTo(s.pool, 0))          \
    X(flags_c, "cuStreamGetFlags, capturing", NONE, get_flags(s.capturing))                        \
    X(id_c, "cuStreamGetId, capturing", NONE, get_id(s.capturing))                                 \
    X(prefetch_c, "cuMemPrefetchAsync, capturing", MANAGED, prefetch(s.memory, s.capturing))       \
    X(callback_c, "cuStreamAddCallback, capturing", NONE,                                          \
      cuStreamAddCallback(s.capturing, do_nothing_on, NULL, 0))                                    \
    X(launch_c, "cuGraphLaunch, capturing", make_exec(), cuGraphLaunch(s.exec, s.capturing))       \
    X(event_end, "cuEventDestroy", NONE, cuEventDestroy(s.event))                                  \
    X(stream_end, "cuStreamDestroy, another", s.stream = new_stream(0), cuStreamDestroy(s.stream)) \
    X(info, "cuMemGetInfo", NONE, memory_info())                                                   \
    X(load, "cuModuleLoadData", NONE, cuModuleLoadData(&s.module, image))                          \
    X(function, "cuModuleGetFunction", NEED(cuModuleLoadData(&s.module, image)),                   \
      cuModuleGetFunction(&s.function, s.module, "noop"))                                          \
    X(graph_end, "cuGraphDestroy", make_graph(), cuGraphDestroy(s.graph))                          \
    X(push, "cuCtxPushCurrent and Pop", NONE, push_and_pop(context))                               \
    X(parameter_f, "cuFuncGetParamInfo", load_function(),                                          \
      parameter_of_function(s.function, 1, &s.pitch))                                              \
    X(parameter_k, "cuKernelGetParamInfo", load_kernel(),                                          \
      parameter_of_kernel(s.kernel, 1, &s.pitch))                                                  \
    X(kind, "cuPointerGetAttribute, memory type", NONE, memory_type(device_a))

CALLS(DEFINE_CALL)
static const struct call calls[] = {CALLS(LIST_CALL)};

static const struct situation {
    const char *name;
    unsigned flags;
    CUstreamCaptureMode mode;
    bool on_thread, is_relaxed;
} situations[] = {
    {"blocking, Global", CU_STREAM_DEFAULT, CU_STREAM_CAPTURE_MODE_GLOBAL, false, false},
    {"blocking, Relaxed", CU_STREAM_DEFAULT, CU_STREAM_CAPTURE_MODE_RELAXED, false, false},
    {"blocking, Global, thread exchanged to Relaxed", CU_STREAM_DEFAULT,
     CU_STREAM_CAPTURE_MODE_GLOBAL, false, true},
    {"non-blocking, Global", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_GLOBAL, false, false},
    {"non-blocking, Global, by another thread", CU_STREAM_NON_BLOCKING,
     CU_STREAM_CAPTURE_MODE_GLOBAL, true, false},
    {"non-blocking, ThreadLocal", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
     false, false},
    {"non-blocking, ThreadLocal, by another thread", CU_STREAM_NON_BLOCKING,
     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true, false},
    {"non-blocking, Relaxed", CU_STREAM_NON_BLOCKING, CU_STREAM_CAPTURE_MODE_RELAXED, false, false},
    {"non-blocking, Global, thread exchanged to Relaxed", CU_STREAM_NON_BLOCKING,
     CU_STREAM_CAPTURE_MODE_GLOBAL, false, true},
};

struct errand {
    CUresult (*call)(void);
    bool is_relaxed;
    CUresult result;
};

static void *run_errand(void *argument)
{
    struct errand *errand = argument;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    NEED(cuCtxSetCurrent(context));
    if (errand->is_relaxed)
        NEED(cuThreadExchangeStreamCaptureMode(&mode));
    errand->result = errand->call();
    if (errand->is_relaxed)
        NEED(cuThreadExchangeStreamCaptureMode(&mode));
    return NULL;
}

static CUresult run(CUresult (*call)(void), bool on_thread, bool is_relaxed)
{
    struct errand errand = {call, is_relaxed, CUDA_SUCCESS};
    pthread_t thread;
    if (on_thread && pthread_create(&thread, NULL, run_errand, &errand) == 0)
        pthread_join(thread, NULL);
    else
        run_errand(&errand);
    return errand.result;
}

static CUresult end_capture(CUstream stream)
{
    CUgraph graph = NULL;
    CUresult result = cuStreamEndCapture(stream, &graph);
    if (graph)
        NEED(cuGraphDestroy(graph));
    return result;
}

static void capture_row(const struct call *call, const struct situation *situation)
{
    char answer[32];
    memset(&s, 0, sizeof s);
    s.capturing = new_stream(situation->flags);
    s.other = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuEventCreate(&s.event, CU_EVENT_DISABLE_TIMING));
    NEED(cuEventRecord(s.event, s.other));
    call->need();
    NEED(cuCtxSynchronize());
    NEED(cuStreamBeginCapture(s.capturing, situation->mode));
    NEED(cuMemsetD8Async(device_a, 0, 16, s.capturing));
    CUresult called = run(call->call, situation->on_thread, situation->is_relaxed);
    snprintf(answer, sizeof answer, "%d/%d", (int)called, (int)end_capture(s.capturing));
    NEED(cuCtxSynchronize());
    NEED(cuStreamDestroy(s.capturing));
    NEED(cuStreamDestroy(s.other));
    say(call->name, situation->name, answer);
}

static CUresult end_it(void)
{
    return end_capture(s.capturing);
}

static void other_thread_ends_row(const char *variant, CUstreamCaptureMode mode)
{
    char answer[48];
    s.capturing = new_stream(CU_STREAM_DEFAULT);
    NEED(cuStreamBeginCapture(s.capturing, mode));
    CUresult others = run(end_it, true, false);
    snprintf(answer, sizeof answer, "%d, then by its own %d", (int)others, (int)end_it());
    NEED(cuStreamDestroy(s.capturing));
    say("cuStreamEndCapture by another thread", variant, answer);
}

static void captured_event_row(void)
{
    char answer[48];
    s.capturing = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuEventCreate(&s.event, CU_EVENT_DISABLE_TIMING));
    NEED(cuStreamBeginCapture(s.capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(cuEventRecord(s.event, s.capturing));
    CUresult during = cuEventQuery(s.event);
    CUresult ended = end_it();
    snprintf(answer, sizeof answer, "%d/%d, after it %d", (int)during, (int)ended,
             (int)cuEventQuery(s.event));
    NEED(cuStreamDestroy(s.capturing));
    say("cuEventQuery", "an event recorded in the capture", answer);
}

static void stream_gone_row(void)
{
    char answer[48];
    s.capturing = new_stream(CU_STREAM_DEFAULT);
    NEED(cuStreamBeginCapture(s.capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUresult gone = cuStreamDestroy(s.capturing);
    CUresult allocated = cuMemAlloc(&s.memory, 4 * KB);
    snprintf(answer, sizeof answer, "%d, then cuMemAlloc %d, cuMemsetD8 %d", (int)gone,
             (int)allocated, (int)cuMemsetD8(device_a, 0, 16));
    say("cuStreamDestroy", "the capturing stream", answer);
}

static void capture_section(void)
{
    section = "6 captures";
    for (size_t i = 0; i < COUNT(calls); i++)
        for (size_t j = 0; j < COUNT(situations); j++)
            capture_row(&calls[i], &situations[j]);
    other_thread_ends_row("Global", CU_STREAM_CAPTURE_MODE_GLOBAL);
    other_thread_ends_row("Relaxed", CU_STREAM_CAPTURE_MODE_RELAXED);
    captured_event_row();
    stream_gone_row();
}

/* ---- 8: what is issued beside a capture, and what is known of kernels ---- */

enum { OLD = 1, FRESH = 3 };
static CUdeviceptr fresh; /* holds FRESH */
static unsigned char *fresh_host;

/* X(id, name, whether it takes a stream, the call) */
#define BESIDE(X)                                                                                  \
    X(fill, "cuMemsetD8Async", true, cuMemsetD8Async(device_a, FRESH, 16, on))                     \
    X(fill_sync, "cuMemsetD8", false, cuMemsetD8(device_a, FRESH, 16))                             \
    X(up, "cuMemcpyHtoDAsync, pinned", true, cuMemcpyHtoDAsync(device_a, fresh_host, 16, on))      \
    X(up_sync, "cuMemcpyHtoD", false, cuMemcpyHtoD(device_a, fresh_host, 16))                      \
    X(across, "cuMemcpyDtoDAsync", true, cuMemcpyDtoDAsync(device_a, fresh, 16, on))               \
    X(function, "cuLaunchKernel of a CUfunction", true,                                            \
      copy_by_kernel(s.function, device_a, fresh, on))                                             \
    X(kernel, "cuLaunchKernel of a CUkernel", true, copy_by_kernel(s.kernel, device_a, fresh, on))

#define DEFINE_BESIDE(id, name, takes_stream, call)                                                \
    static CUresult beside_##id(CUstream on)                                                       \
    {                                                                                              \
        (void)on;                                                                                  \
        return call;                                                                               \
    }
BESIDE(DEFINE_BESIDE)

static const struct {
    const char *name;
    bool takes_stream;
    CUresult (*call)(CUstream on);
} beside[] = {
#define LIST_BESIDE(id, name, takes_stream, call) {name, takes_stream, beside_##id},
    BESIDE(LIST_BESIDE)};

static int first_byte(void)
{
    unsigned char byte = 0;
    NEED(cuCtxSynchronize());
    NEED(cuMemcpyDtoH(&byte, device_a, 1));
    return byte;
}

/* The capture of a non-blocking stream has one node of its own. */
static void beside_row(const char *name, CUresult (*call)(CUstream on), const char *variant,
                       CUstream on)
{
    char answer[96];
    size_t nodes = 0;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    s.capturing = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuMemsetD8(device_a, OLD, 16));
    NEED(cuCtxSynchronize());
    NEED(cuStreamBeginCapture(s.capturing, CU_STREAM_CAPTURE_MODE_GLOBAL));
    NEED(cuMemsetD8Async(device_a + 4 * KB, 0, 16, s.capturing));
    CUresult called = call(on);
    CUresult ended = cuStreamEndCapture(s.capturing, &graph);
    bool at_once = first_byte() == FRESH;
    NEED(cuMemsetD8(device_a, OLD, 16));
    NEED(cuGraphGetNodes(graph, NULL, &nodes));
    NEED(cuGraphInstantiate(&exec, graph, 0));
    NEED(cuGraphLaunch(exec, s.capturing));
    bool again = first_byte() == FRESH;
    snprintf(answer, sizeof answer, "%d/%d, %s, %zu node%s, a launch %s it", (int)called,
             (int)ended, at_once ? "runs at once" : "does not run", nodes, nodes == 1 ? "" : "s",
             again ? "repeats" : "lacks");
    NEED(cuGraphExecDestroy(exec));
    NEED(cuGraphDestroy(graph));
    NEED(cuStreamDestroy(s.capturing));
    say(name, variant, answer);
}

/* What the driver says of the parameters of one that the launch may name. */
static void parameters_row(const char *name, const char *variant,
                           CUresult (*ask)(void *handle, size_t index, size_t *offset,
                                           size_t *size),
                           void *handle)
{
    char answer[96] = "";
    CUresult result = CUDA_SUCCESS;
    for (size_t i = 0, offset, size; i < 8 && result == CUDA_SUCCESS; i++) {
        result = ask(handle, i, &offset, &size);
        size_t length = strlen(answer);
        if (result == CUDA_SUCCESS)
            snprintf(answer + length, sizeof answer - length, "%zu at %zu, ", size, offset);
        else
            snprintf(answer + length, sizeof answer - length, "then %d", (int)result);
    }
    say(name, variant, answer);
}

static CUresult ask_function(void *handle, size_t index, size_t *offset, size_t *size)
{
    return cuFuncGetParamInfo(handle, index, offset, size);
}

static CUresult ask_kernel(void *handle, size_t index, size_t *offset, size_t *size)
{
    return cuKernelGetParamInfo(handle, index, offset, size);
}

static void beside_section(void)
{
    CUstream other = new_stream(CU_STREAM_NON_BLOCKING);
    section = "8 beside a capture";
    load_function();
    load_kernel();
    NEED(cuMemAlloc(&fresh, 4 * KB));
    NEED(cuMemsetD8(fresh, FRESH, 16));
    NEED(cuMemAllocHost((void **)&fresh_host, 4 * KB));
    memset(fresh_host, FRESH, 16);
    NEED(copy_by_kernel(s.function, device_a, fresh, NULL)); /* code is loaded lazily */
    NEED(copy_by_kernel(s.kernel, device_a, fresh, NULL));
    for (size_t i = 0; i < COUNT(beside); i++) {
        beside_row(beside[i].name, beside[i].call, "legacy stream", NULL);
        if (beside[i].takes_stream)
            beside_row(beside[i].name, beside[i].call, "another non-blocking stream", other);
    }
    parameters_row("cuFuncGetParamInfo", "a CUfunction", ask_function, s.function);
    parameters_row("cuFuncGetParamInfo", "a CUkernel", ask_function, s.kernel);
    parameters_row("cuKernelGetParamInfo", "a CUkernel", ask_kernel, s.kernel);
}

/* ---- 7: graphs ---- */

enum kind { PINNED, REGISTERED, PAGEABLE };
static const char *const kind_names[] = {"pinned", "registered heap", "pageable"};
enum { BEFORE = 1, AT_LAUNCH = 2, AFTER = 3 };

static unsigned char *host_new(enum kind kind, size_t size)
{
    void *memory = NULL;
    if (kind == PINNED)
        NEED(cuMemAllocHost(&memory, size));
    else
        memory = malloc(size);
    if (!memory)
        abort();
    memset(memory, BEFORE, size);
    if (kind == REGISTERED)
        NEED(cuMemHostRegister(memory, size, 0));
    return memory;
}

static CUdeviceptr of(const void *host)
{
    return (CUdeviceptr)(uintptr_t)host;
}

static CUgraphExec copy_exec(CUdeviceptr to, CUdeviceptr from, size_t size, CUgraph *graph)
{
    CUgraphExec exec = NULL;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    NEED(cuMemcpyAsync(to, from, size, stream));
    NEED(cuStreamEndCapture(stream, graph));
    NEED(cuGraphInstantiate(&exec, *graph, 0));
    NEED(cuStreamDestroy(stream));
    return exec;
}

static CUgraphExec fill_exec(CUdeviceptr to, size_t size, CUgraph *graph)
{
    CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = to, .elementSize = 1, .width = size, .height = 1, .value = AFTER};
    CUgraphNode node;
    CUgraphExec exec = NULL;
    NEED(cuGraphCreate(graph, 0));
    NEED(cuGraphAddMemsetNode(&node, *graph, NULL, 0, &fill, context));
    NEED(cuGraphInstantiate(&exec, *graph, 0));
    return exec;
}

/* Behind a busy stream, what does the host see when the launch has returned, and at the end? */
static void result_row(const char *what, enum kind kind, CUgraphExec exec, unsigned char *seen)
{
    char answer[64];
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
    unsigned over_before = over;
    NEED(cuGraphLaunch(exec, stream));
    const char *returned = waited(over_before);
    bool stale = *(volatile unsigned char *)seen != AFTER;
    NEED(cuStreamSynchronize(stream));
    snprintf(answer, sizeof answer, "launch %s, %s%s", returned,
             stale ? "stale until done" : "complete",
             *(volatile unsigned char *)seen == AFTER ? "" : ", and wrong after");
    NEED(cuStreamDestroy(stream));
    say(what, kind_names[kind], answer);
}

static void result_rows(enum kind kind)
{
    CUgraph graph;
    unsigned char *to = host_new(kind, 4 * KB);
    NEED(cuMemsetD8(device_a, AFTER, 4 * KB));
    NEED(cuCtxSynchronize());
    result_row("memcpy node D2H", kind, copy_exec(of(to), device_a, 4 * KB, &graph), to);
    unsigned char *from = host_new(kind, 4 * KB);
    to = host_new(kind, 4 * KB);
    memset(from, AFTER, 4 * KB);
    if (kind == PAGEABLE) {
        result_row("memcpy node H2H", kind, copy_exec(of(to), of(from), 4 * KB, &graph), to);
        return;
    }
    to = host_new(kind, 4 * KB);
    result_row("memset node", kind, fill_exec(of(to), 4 * KB, &graph), to);
}

static int device_byte(void)
{
    unsigned char byte = 0;
    NEED(cuMemcpyDtoH(&byte, device_a, 1));
    return byte;
}

/* The launch of a large pageable source waits for its stream. */
static void large_source_row(void)
{
    char answer[64];
    CUgraph graph;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    unsigned char *from = host_new(PAGEABLE, 64 * MB);
    CUgraphExec exec = copy_exec(device_a, of(from), 64 * MB, &graph);
    memset(from, AT_LAUNCH, 64 * MB);
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
    unsigned over_before = over;
    NEED(cuGraphLaunch(exec, stream));
    const char *returned = waited(over_before);
    memset(from, AFTER, 64 * MB);
    NEED(cuStreamSynchronize(stream));
    snprintf(answer, sizeof answer, "launch %s, %s", returned,
             device_byte() == AT_LAUNCH ? "value at launch" : "another value");
    free(from);
    say("memcpy node H2D", "pageable, 64 MB", answer);
}

/* The second launch of the exec, on an idle stream, while the first one's stream is busy. */
static void second_launch_row(void)
{
    CUgraph graph;
    CUstream first = new_stream(CU_STREAM_NON_BLOCKING);
    CUstream second = new_stream(CU_STREAM_NON_BLOCKING);
    CUgraphExec exec = fill_exec(device_a, 16, &graph);
    NEED(cuLaunchHostFunc(first, hold_up, NULL));
    NEED(cuGraphLaunch(exec, first));
    NEED(cuGraphLaunch(exec, second));
    pause_briefly();
    CUresult result = cuStreamQuery(second);
    NEED(cuCtxSynchronize());
    say("second launch of an exec", "on another stream",
        result == CUDA_ERROR_NOT_READY ? "waits for the first" : "does not wait");
}

static void destroyed_row(bool is_exec)
{
    char answer[64];
    CUgraph graph;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    unsigned char *to = host_new(PINNED, 4 * KB);
    CUgraphExec exec = fill_exec(of(to), 4 * KB, &graph);
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
    NEED(cuGraphLaunch(exec, stream));
    unsigned over_before = over;
    if (is_exec)
        NEED(cuGraphExecDestroy(exec));
    else
        NEED(cuGraphDestroy(graph));
    const char *returned = waited(over_before);
    NEED(cuStreamSynchronize(stream));
    snprintf(answer, sizeof answer, "%s, the launch %s", returned,
             *(volatile unsigned char *)to == AFTER ? "completes" : "is lost");
    say(is_exec ? "cuGraphExecDestroy" : "cuGraphDestroy", "with a launch pending", answer);
}

static void set_params_row(enum kind kind)
{
    CUDA_MEMCPY3D copy;
    char answer[64];
    CUgraph graph;
    CUgraphNode node = NULL;
    size_t count = 1;
    CUstream stream = new_stream(CU_STREAM_NON_BLOCKING);
    unsigned char *from = host_new(PINNED, 4 * KB), *other = host_new(kind, 4 * KB);
    CUgraphExec exec = copy_exec(device_a, of(from), 4 * KB, &graph);
    memset(other, AFTER, 4 * KB);
    NEED(cuGraphGetNodes(graph, &node, &count));
    NEED(cuGraphMemcpyNodeGetParams(node, &copy));
    if (copy.srcMemoryType == CU_MEMORYTYPE_HOST) /* the type must stay as it was */
        copy.srcHost = other;
    else
        copy.srcDevice = of(other);
    NEED(cuLaunchHostFunc(stream, hold_up, NULL));
    NEED(cuGraphLaunch(exec, stream));
    CUresult result = cuGraphExecMemcpyNodeSetParams(exec, node, &copy, context);
    NEED(cuStreamSynchronize(stream));
    int pending = device_byte();
    NEED(cuGraphLaunch(exec, stream));
    NEED(cuStreamSynchronize(stream));
    snprintf(answer, sizeof answer, "%d, %s", (int)result,
             pending == BEFORE && device_byte() == AFTER ? "from the next launch on" : "otherwise");
    say("cuGraphExecMemcpyNodeSetParams, another source", kind_names[kind], answer);
}

static void graph_section(void)
{
    section = "7 graphs";
    for (int kind = PINNED; kind <= PAGEABLE; kind++)
        result_rows((enum kind)kind);
    large_source_row();
    second_launch_row();
    destroyed_row(true);
    destroyed_row(false);
    for (int kind = PINNED; kind <= PAGEABLE; kind++)
        set_params_row((enum kind)kind);
}

static bool start(void)
{
    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS)
        result = cuDeviceGet(&device, 0);
    if (result == CUDA_SUCCESS)
        result = cuDevicePrimaryCtxRetain(&context, device);
    if (result == CUDA_SUCCESS)
        result = cuCtxSetCurrent(context);
    if (result == CUDA_SUCCESS)
        result = cuMemAlloc(&device_a, 64 * MB);
    if (result != CUDA_SUCCESS)
        fprintf(stderr, "conformance_capture: no usable GPU: %d\n", (int)result);
    return result == CUDA_SUCCESS;
}

int main(void)
{
    if (!start())
        return 77;
    capture_section();
    graph_section();
    beside_section();
    return 0;
}
