/* probe_resource: asks libcupti and the CUDA driver about the resource and synchronise domains.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probe_resource.c \
 *         -o probe_resource -ldl -lcuda
 *     ./probe_resource          every question, under 60 s
 *     ./probe_resource 12       these only
 *
 * Its questions go on where probe_cupti's end: Q10 graphs, Q11 contexts and streams, Q12 waits, Q13
 * costs, Q14 locks.
 *
 * PROBE_CUPTI names the libcupti to ask. Each question is answered in a child process that does its
 * own cuInit; one that dies or hangs costs its own line. A line shows what was announced, in order:
 *
 *     name( ... )=r      a driver call and its result; what lies between was announced within it
 *     r12<g.. n.. ..>    resource callback 12: the handles are named as they were first seen
 *     sync1<c.. s..>     synchronise callback 1
 *     /busy /done        at a synchronise callback: has the work that the call waits for ended?
 *     !T                 announced on another thread than the call's
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define KB 1024UL
#define MB (1024 * KB)
#define LEGACY ((CUstream)0)
#define CHILD_LIMIT_S 12

/* ---- answers ---- */

static bool *midway; /* shared: the child is in a line that is begun and not ended */

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    fflush(stdout);
    *midway = true;
}

static void end_line(void)
{
    putchar('\n');
    fflush(stdout);
    *midway = false;
}

static CUresult check(const char *call, CUresult rc)
{
    if (rc != CUDA_SUCCESS)
        say(" {%.*s=%d}", (int)strcspn(call, "("), call, (int)rc);
    return rc;
}

#define TRY(call) check(#call, (call))

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};

    nanosleep(&t, NULL);
}

/* ---- handles have names ---- */

static struct {
    const void *handle;
    char name[16];
} names[512];
static unsigned name_count;

static void name_as(const void *handle, const char *name)
{
    for (unsigned i = 0; i < name_count; i++)
        if (names[i].handle == handle) {
            say(" {%s is %s}", names[i].name, name);
            snprintf(names[i].name, sizeof names[i].name, "%s", name);
            return;
        }
    if (handle == NULL || name_count == COUNT(names))
        return;
    names[name_count].handle = handle;
    snprintf(names[name_count++].name, sizeof names[0].name, "%s", name);
}

static const char *name_of(const void *handle, const char *kind)
{
    char name[16];

    if (handle == NULL)
        return "0";
    if ((uintptr_t)handle < 16)
        return (uintptr_t)handle == 1 ? "LEGACY" : (uintptr_t)handle == 2 ? "PERTHREAD" : "small";
    for (unsigned i = 0; i < name_count; i++)
        if (names[i].handle == handle)
            return names[i].name;
    snprintf(name, sizeof name, "%s%u?", kind, name_count);
    name_as(handle, name);
    return name_count < COUNT(names) ? names[name_count - 1].name : "many";
}

/* ---- libcupti ---- */

static struct {
    void *library;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable;
    __typeof__(&cuptiEnableDomain) enable_domain;
} cupti;

static const char *cupti_path(void)
{
    static const char *const places[] = {
        "/usr/local/cuda/lib64/libcupti.so.13",
        "/usr/local/cuda/lib/libcupti.so.13",
        "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cu13/lib/libcupti.so.13",
        "/opt/torch/.venv/lib/python3*/site-packages/nvidia/cuda_cupti/lib/libcupti.so.13",
        "/usr/l*/python3*/*-packages/nvidia/cu*/lib/libcupti.so.13",
    };
    static glob_t found;

    if (getenv("PROBE_CUPTI") != NULL)
        return getenv("PROBE_CUPTI");
    for (size_t i = 0; i < COUNT(places); i++)
        if (glob(places[i], 0, NULL, &found) == 0)
            return found.gl_pathv[0];
    return "libcupti.so.13";
}

static bool load(void)
{
    cupti.library = dlopen(cupti_path(), RTLD_NOW | RTLD_LOCAL);
    if (cupti.library == NULL) {
        say(" {%s}", dlerror());
        return false;
    }
    *(void **)&cupti.subscribe = dlsym(cupti.library, "cuptiSubscribe");
    *(void **)&cupti.unsubscribe = dlsym(cupti.library, "cuptiUnsubscribe");
    *(void **)&cupti.enable = dlsym(cupti.library, "cuptiEnableCallback");
    *(void **)&cupti.enable_domain = dlsym(cupti.library, "cuptiEnableDomain");
    return cupti.subscribe != NULL && cupti.unsubscribe != NULL && cupti.enable != NULL &&
           cupti.enable_domain != NULL;
}

static CUstream stream; /* of the world below */

static struct {
    bool tell;
    _Atomic bool work_is_done; /* the host function that is waited for has ended */
    bool watch_work;
    bool ask_inside; /* call the driver in resource and synchronise callbacks */
    long caller;
    CUpti_CallbackDomain wait_domain; /* another thread calls the driver in this callback */
    CUpti_CallbackId wait_cbid;
    CUpti_SubscriberHandle subscriber;
    _Atomic unsigned calls;
} ear;

static struct {
    pthread_t thread;
    _Atomic bool go;
    _Atomic unsigned done;
    CUevent event;
} beside; /* of Q14 */

static void let_other_call(void);

static void tell_thread(void)
{
    if (ear.caller != syscall(SYS_gettid))
        say("!T");
}

static void tell_state(void)
{
    if (ear.watch_work)
        say(atomic_load(&ear.work_is_done) ? "/done" : "/busy");
}

static void hear_driver(const CUpti_CallbackData *data)
{
    if (strncmp(data->functionName, "cuGetProcAddress", 16) == 0)
        return;
    if (data->callbackSite == CUPTI_API_ENTER) {
        say(" %s(", data->functionName);
        tell_thread();
    } else {
        say(" )");
        if (*(const int *)data->functionReturnValue != 0)
            say("=%d", *(const int *)data->functionReturnValue);
    }
}

static bool is_of_graphs(CUpti_CallbackId cbid)
{
    return cbid >= CUPTI_CBID_RESOURCE_GRAPH_CREATED &&
           cbid != CUPTI_CBID_RESOURCE_STREAM_ATTRIBUTE_CHANGED;
}

#define FIELD(letter, value, kind)                                                                 \
    if ((value) != NULL)                                                                           \
    say(" " letter "=%s", name_of((value), (kind)))

static void tell_graph(const CUpti_GraphData *graph)
{
    FIELD("g", graph->graph, "G");
    FIELD("og", graph->originalGraph, "G");
    FIELD("n", graph->node, "N");
    FIELD("on", graph->originalNode, "N");
    FIELD("dep", graph->dependency, "N");
    FIELD("e", graph->graphExec, "E");
    if (graph->node != NULL)
        say(" type=%d", (int)graph->nodeType);
}

static void ask_about_node(const CUpti_GraphData *graph)
{
    CUgraphNodeType type = (CUgraphNodeType)-1;
    CUDA_MEMCPY3D copy;
    size_t count = 0;

    if (graph->node == NULL)
        return;
    CUresult rc = cuGraphNodeGetType(graph->node, &type);
    say(" [type %d=%d", (int)type, (int)rc);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        say(" params=%d", (int)cuGraphMemcpyNodeGetParams(graph->node, &copy));
    if (graph->graph != NULL)
        rc = cuGraphGetNodes(graph->graph, NULL, &count);
    say(" nodes %zu=%d]", count, (int)rc);
}

static void ask_about_stream(CUstream which)
{
    unsigned flags = 77;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    CUcontext context = NULL, current = NULL;

    CUresult capturing = cuStreamIsCapturing(which, &status);
    say(" [capturing %d=%d", (int)status, (int)capturing);
    CUresult rc = cuStreamGetFlags(which, &flags);
    say(" flags %u=%d", flags, (int)rc);
    rc = cuStreamGetCtx(which, &context);
    say(" ctx %s=%d", name_of(context, "C"), (int)rc);
    rc = cuCtxGetCurrent(&current);
    say(" current %s=%d", name_of(current, "C"), (int)rc);
    say(" query=%d]", (int)cuStreamQuery(which));
}

static void hear_resource(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
    say(" r%u<%s", cbid, data == NULL ? "nothing>" : "");
    tell_thread();
    if (data == NULL)
        return;
    if (is_of_graphs(cbid)) {
        if (data->resourceDescriptor != NULL) {
            tell_graph(data->resourceDescriptor);
            if (ear.ask_inside && (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED ||
                                   cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED))
                ask_about_node(data->resourceDescriptor);
        }
    } else {
        FIELD("c", data->context, "C");
        if (cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED ||
            cbid == CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING) {
            FIELD("s", data->resourceHandle.stream, "S");
            if (ear.ask_inside)
                ask_about_stream(data->resourceHandle.stream);
        }
        if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && ear.ask_inside)
            say(" [stream query=%d]", (int)cuStreamQuery(stream));
    }
    say(">");
    tell_state();
}

static void hear_synchronise(CUpti_CallbackId cbid, const CUpti_SynchronizeData *data)
{
    say(" sync%u<c=%s s=%s", cbid, name_of(data->context, "C"), name_of(data->stream, "S"));
    if (ear.ask_inside)
        ask_about_stream(data->stream);
    say(">");
    tell_thread();
    tell_state();
}

static void CUPTIAPI hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                          const void *about)
{
    static __thread bool asking; /* what the callback itself calls is not told */

    (void)user;
    atomic_fetch_add(&ear.calls, 1);
    if (!ear.tell || asking || pthread_equal(pthread_self(), beside.thread))
        return;
    asking = true;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        hear_driver(about);
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        hear_resource(cbid, about);
    else if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE)
        hear_synchronise(cbid, about);
    if (domain == ear.wait_domain && cbid == ear.wait_cbid)
        let_other_call();
    asking = false;
}

static void enable_domain(CUpti_CallbackDomain domain)
{
    CUptiResult rc = cupti.enable_domain(1, ear.subscriber, domain);

    if (rc != CUPTI_SUCCESS)
        say(" {enable domain %d=CUPTI %d}", (int)domain, (int)rc);
}

static bool subscribe(void)
{
    CUptiResult rc = cupti.subscribe(&ear.subscriber, hear, NULL);

    ear.caller = syscall(SYS_gettid);
    if (rc != CUPTI_SUCCESS)
        say(" {subscribe=CUPTI %d}", (int)rc);
    return rc == CUPTI_SUCCESS;
}

static bool listen(void)
{
    if (!subscribe())
        return false;
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    enable_domain(CUPTI_CB_DOMAIN_SYNCHRONIZE);
    return true;
}

/* A line: what was announced of some calls. */
#define LINE(title, ...)                                                                           \
    do {                                                                                           \
        say("Q%d %s:", question, (title));                                                         \
        ear.tell = true;                                                                           \
        __VA_ARGS__;                                                                               \
        ear.tell = false;                                                                          \
        end_line();                                                                                \
    } while (0)

static int question;

/* ---- the world that questions find ---- */

static CUdevice device;
static CUcontext primary;
static CUmodule module;
static CUfunction empty_kernel;
static CUdeviceptr dev;
static unsigned char *pinned;

static const char empty_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                ".visible .entry empty()\n{\n    ret;\n}\n";

static CUresult set_up(void)
{
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    if (rc != CUDA_SUCCESS || (rc = TRY(cuCtxSetCurrent(primary))) != CUDA_SUCCESS)
        return rc;
    name_as(primary, "PRIMARY");
    if ((rc = TRY(cuModuleLoadData(&module, empty_ptx))) != CUDA_SUCCESS)
        return rc;
    TRY(cuModuleGetFunction(&empty_kernel, module, "empty"));
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    name_as(stream, "STREAM");
    TRY(cuMemAllocHost((void **)&pinned, 64 * KB));
    return TRY(cuMemAlloc(&dev, 64 * KB));
}

static bool begin(void)
{
    return set_up() == CUDA_SUCCESS && load() && listen();
}

/* ---- Q10: graphs ---- */

static CUDA_MEMCPY3D upload_of(const void *source)
{
    return (CUDA_MEMCPY3D){
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = source,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = dev,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };
}

static CUgraph captured(CUstreamCaptureMode mode)
{
    CUgraph graph = NULL;

    TRY(cuStreamBeginCapture(stream, mode));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    TRY(cuStreamEndCapture(stream, &graph));
    return graph;
}

static CUgraphNode add_copy(CUgraph graph, const CUgraphNode *after, const char *name)
{
    CUDA_MEMCPY3D copy = upload_of(pinned);
    CUgraphNode node = NULL;

    TRY(cuGraphAddMemcpyNode(&node, graph, after, after != NULL, &copy, primary));
    name_as(node, name);
    return node;
}

static void add_conditional(CUgraph graph)
{
    CUgraphConditionalHandle handle = 0;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUgraphNode node = NULL;

    TRY(cuGraphConditionalHandleCreate(&handle, graph, primary, 0, CU_GRAPH_COND_ASSIGN_DEFAULT));
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = primary;
    TRY(cuGraphAddNode(&node, graph, NULL, NULL, 0, &params));
    name_as(node, "condnode");
    if (params.conditional.phGraph_out != NULL) {
        name_as(params.conditional.phGraph_out[0], "body");
        add_copy(params.conditional.phGraph_out[0], NULL, "bodycopy");
    }
}

static void abandon_captures(void)
{
    CUstream doomed = NULL;
    CUgraph graph = NULL;

    LINE("capture whose stream is destroyed", {
        TRY(cuStreamCreate(&doomed, CU_STREAM_NON_BLOCKING));
        TRY(cuStreamBeginCapture(doomed, CU_STREAM_CAPTURE_MODE_RELAXED));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, doomed));
        TRY(cuStreamDestroy(doomed));
    });
    LINE("capture invalidated by a synchronise, then ended", {
        TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        TRY(cuStreamSynchronize(stream));
        TRY(cuStreamEndCapture(stream, &graph));
    });
}

static void q10_nodes(CUgraph graph)
{
    CUgraphNode first = NULL, child_node = NULL;
    CUgraph child = NULL, clone = NULL, embedded = NULL;
    CUDA_MEMCPY3D changed = upload_of(pinned + 128);

    LINE("graph made by hand, two copies, an edge", {
        TRY(cuGraphCreate(&child, 0));
        name_as(child, "child");
        first = add_copy(child, NULL, "first");
        add_copy(child, &first, "second");
    });
    LINE("child graph node added", {
        TRY(cuGraphAddChildGraphNode(&child_node, graph, NULL, 0, child));
        name_as(child_node, "childnode");
    });
    TRY(cuGraphChildGraphNodeGetGraph(child_node, &embedded));
    LINE("conditional node added, a copy in its body", add_conditional(graph));
    LINE("clone", {
        TRY(cuGraphClone(&clone, graph));
        name_as(clone, "clone");
    });
    LINE("params of a node set", TRY(cuGraphMemcpyNodeSetParams(first, &changed)));
    LINE("node destroyed", TRY(cuGraphDestroyNode(first)));
    LINE("child node destroyed", TRY(cuGraphDestroyNode(child_node)));
    LINE("clone destroyed", TRY(cuGraphDestroy(clone)));
    LINE("graph by hand destroyed", TRY(cuGraphDestroy(child)));
    say("Q10 the child node's own graph was %s", name_of(embedded, "G"));
    end_line();
}

static void q10_execs(CUgraph graph)
{
    CUgraphExec exec = NULL, other = NULL;
    CUgraphExecUpdateResultInfo info;
    CUgraphNode nodes[8];
    size_t count = COUNT(nodes);
    CUDA_MEMCPY3D changed = upload_of(pinned + 128);

    TRY(cuGraphGetNodes(graph, nodes, &count));
    say("Q10 nodes of the graph before it is instantiated:");
    for (size_t i = 0; i < count; i++)
        say(" %s", name_of(nodes[i], "N"));
    end_line();
    LINE("instantiate", {
        TRY(cuGraphInstantiate(&exec, graph, 0));
        name_as(exec, "exec");
    });
    LINE("instantiate again", {
        TRY(cuGraphInstantiate(&other, graph, 0));
        name_as(other, "exec2");
    });
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        if (cuGraphNodeGetType(nodes[i], &type) == CUDA_SUCCESS &&
            type == CU_GRAPH_NODE_TYPE_MEMCPY)
            LINE("exec's params set",
                 TRY(cuGraphExecMemcpyNodeSetParams(exec, nodes[i], &changed, primary)));
    }
    LINE("exec updated", TRY(cuGraphExecUpdate(exec, graph, &info)));
    LINE("launched twice, waited for", {
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuStreamSynchronize(stream));
    });
    TRY(cuGraphLaunch(other, stream));
    LINE("exec destroyed", TRY(cuGraphExecDestroy(exec)));
    LINE("exec destroyed in flight", TRY(cuGraphExecDestroy(other)));
    TRY(cuStreamSynchronize(stream));
}

static void q10_to_graph(void)
{
    CUgraph graph = NULL, same = NULL;

    LINE("captured to a graph of the program's", {
        TRY(cuGraphCreate(&graph, 0));
        TRY(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
                                        CU_STREAM_CAPTURE_MODE_RELAXED));
        TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
        TRY(cuStreamEndCapture(stream, &same));
    });
    say("Q10 of which the end gave %s", same == graph ? "the same" : "another");
    end_line();
    LINE("which is destroyed", TRY(cuGraphDestroy(graph)));
}

static void q10(void)
{
    CUgraph graph = NULL;

    if (!begin())
        return;
    LINE("capture", graph = captured(CU_STREAM_CAPTURE_MODE_GLOBAL));
    name_as(graph, "captured");
    q10_execs(graph);
    q10_nodes(graph);
    LINE("instantiate with a conditional node, destroyed", {
        CUgraphExec exec = NULL;
        TRY(cuGraphInstantiate(&exec, graph, 0));
        TRY(cuGraphExecDestroy(exec));
    });
    LINE("captured graph destroyed", TRY(cuGraphDestroy(graph)));
    q10_to_graph();
    abandon_captures();
}

static void q10_inside(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;

    if (!begin())
        return;
    ear.ask_inside = true;
    LINE("the driver asked about nodes inside, a graph made by hand", {
        TRY(cuGraphCreate(&graph, 0));
        add_copy(graph, NULL, "hand");
    });
    LINE("the driver asked about nodes inside, instantiate",
         TRY(cuGraphInstantiate(&exec, graph, 0)));
    LINE("the driver asked about nodes inside, destroyed", {
        TRY(cuGraphExecDestroy(exec));
        TRY(cuGraphDestroy(graph));
    });
}

static void q10_inside_capture(void)
{
    CUgraph graph = NULL;

    if (!begin())
        return;
    ear.ask_inside = true;
    LINE("the driver asked about nodes inside, capture",
         graph = captured(CU_STREAM_CAPTURE_MODE_RELAXED));
    LINE("the driver asked about nodes inside, its end", TRY(cuGraphDestroy(graph)));
}

/* ---- Q11: contexts and streams ---- */

static void q11_early(void)
{
    say("Q11 subscribed before cuInit:");
    ear.tell = true;
    if (!load() || !listen())
        return;
    TRY(cuInit(0));
    TRY(cuDeviceGet(&device, 0));
    TRY(cuDevicePrimaryCtxRetain(&primary, device));
    name_as(primary, "PRIMARY");
    TRY(cuCtxSetCurrent(primary));
    TRY(cuMemAlloc(&dev, 64 * KB));
    TRY(cuMemsetD8Async(dev, 0, 64, CU_STREAM_PER_THREAD));
    TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    ear.tell = false;
    end_line();
}

static CUresult make_context(CUcontext *context)
{
    return cuCtxCreate(context, NULL, 0, device);
}

static void CUDA_CB dawdle(void *unused)
{
    (void)unused;
    sleep_ms(30);
    atomic_store(&ear.work_is_done, true);
}

static void keep_busy(CUstream which)
{
    atomic_store(&ear.work_is_done, false);
    TRY(cuLaunchHostFunc(which, dawdle, NULL));
}

static void q11_contexts(void)
{
    CUcontext context = NULL;
    CUstream plain = NULL, left = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUmodule loaded = NULL;

    if (!begin())
        return;
    LINE("cuCtxCreate", {
        TRY(make_context(&context));
        name_as(context, "MINE");
    });
    LINE("two streams made, one destroyed", {
        TRY(cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
        TRY(cuStreamCreateWithPriority(&left, 0, -1));
        name_as(plain, "plain");
        name_as(left, "left");
        TRY(cuStreamDestroy(plain));
    });
    LINE("module loaded", TRY(cuModuleLoadData(&loaded, empty_ptx)));
    LINE("graph and exec", {
        TRY(cuGraphCreate(&graph, 0));
        CUgraphNode node = NULL;
        CUDA_MEMSET_NODE_PARAMS fill = {.dst = dev, .elementSize = 1, .width = 64, .height = 1};
        TRY(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, context));
        TRY(cuGraphInstantiate(&exec, graph, 0));
        name_as(exec, "execofmine");
    });
    keep_busy(left);
    ear.watch_work = true;
    LINE("cuCtxDestroy with a busy stream, a module and an exec left", TRY(cuCtxDestroy(context)));
    ear.watch_work = false;
    TRY(cuCtxSetCurrent(primary));
    LINE("its exec destroyed afterwards", TRY(cuGraphExecDestroy(exec)));
    LINE("its graph destroyed afterwards", TRY(cuGraphDestroy(graph)));
    LINE("module unloaded", TRY(cuModuleUnload(module)));
}

static void q11_stream_busy(void)
{
    CUstream busy = NULL;
    CUstream again = NULL;

    if (!begin())
        return;
    TRY(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
    name_as(busy, "busy");
    keep_busy(busy);
    ear.watch_work = true;
    LINE("busy stream destroyed", TRY(cuStreamDestroy(busy)));
    ear.watch_work = false;
    LINE("stream made next", TRY(cuStreamCreate(&again, CU_STREAM_NON_BLOCKING)));
    sleep_ms(50);
    LINE("work on the per-thread stream", {
        TRY(cuMemsetD8Async(dev, 0, 64, CU_STREAM_PER_THREAD));
        TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    });
    ear.ask_inside = true;
    LINE("the driver asked inside", {
        TRY(cuStreamCreate(&busy, 0));
        TRY(cuStreamDestroy(busy));
    });
}

static void q11_primary(void)
{
    CUstream mine = NULL;

    if (!begin())
        return;
    TRY(cuStreamCreate(&mine, 0));
    name_as(mine, "mine");
    LINE("cuDevicePrimaryCtxReset", TRY(cuDevicePrimaryCtxReset(device)));
    LINE("cuDevicePrimaryCtxRetain", TRY(cuDevicePrimaryCtxRetain(&primary, device)));
    LINE("stream made", {
        TRY(cuCtxSetCurrent(primary));
        TRY(cuStreamCreate(&stream, 0));
    });
    LINE("cuDevicePrimaryCtxRelease, the last", {
        TRY(cuDevicePrimaryCtxRelease(device));
        TRY(cuDevicePrimaryCtxRelease(device));
    });
}

static void q11_runtime(void)
{
    static const char *const places[] = {"libcudart.so.13", "out/cuda/lib/libcudart.so.13",
                                         "/usr/local/cuda/lib64/libcudart.so.13"};
    void *runtime = NULL;

    if (!begin())
        return;
    for (size_t i = 0; i < COUNT(places) && runtime == NULL; i++)
        runtime = dlopen(places[i], RTLD_NOW);
    say("Q11 runtime:%s", runtime ? "" : " none");
    end_line();
    if (runtime == NULL)
        return;
    cudaError_t (*make)(cudaStream_t *) = dlsym(runtime, "cudaStreamCreate");
    cudaError_t (*reset)(void) = dlsym(runtime, "cudaDeviceReset");
    cudaError_t (*wait)(void) = dlsym(runtime, "cudaDeviceSynchronize");
    cudaStream_t mine = NULL;
    LINE("cudaStreamCreate", make(&mine));
    LINE("cudaDeviceSynchronize", wait());
    LINE("cudaDeviceReset", reset());
    LINE("cudaStreamCreate after it", make(&mine));
}

static void q11_green(void)
{
    CUdevResource resource, part;
    CUdevResourceDesc description;
    CUgreenCtx green = NULL;
    CUstream mine = NULL;
    unsigned groups = 1;

    if (!begin())
        return;
    LINE("green context", {
        TRY(cuDeviceGetDevResource(device, &resource, CU_DEV_RESOURCE_TYPE_SM));
        TRY(cuDevSmResourceSplitByCount(&part, &groups, &resource, NULL, 0, 8));
        TRY(cuDevResourceGenerateDesc(&description, &part, 1));
        TRY(cuGreenCtxCreate(&green, description, device, CU_GREEN_CTX_DEFAULT_STREAM));
        TRY(cuGreenCtxStreamCreate(&mine, green, CU_STREAM_NON_BLOCKING, 0));
        name_as(mine, "greenstream");
    });
    keep_busy(mine);
    ear.watch_work = true;
    LINE("green context destroyed with a busy stream", TRY(cuGreenCtxDestroy(green)));
    ear.watch_work = false;
    sleep_ms(50);
}

/* ---- Q12: synchronisation ---- */

static CUstream blocking;
static CUevent event;
static unsigned char *pageable;
static CUgraphExec writer; /* of pageable memory */

/* One wait behind 30 ms of work on a stream. */
#define WAIT(title, where, ...)                                                                    \
    do {                                                                                           \
        keep_busy(where);                                                                          \
        TRY(cuEventRecord(event, where));                                                          \
        uint64_t start = now_ns();                                                                 \
        say("Q%d %s:", question, (title));                                                         \
        ear.tell = ear.watch_work = true;                                                          \
        __VA_ARGS__;                                                                               \
        ear.tell = ear.watch_work = false;                                                         \
        say(" | %.0f ms, %s", (double)(now_ns() - start) / 1e6,                                    \
            atomic_load(&ear.work_is_done) ? "waited" : "did not wait");                           \
        end_line();                                                                                \
        TRY(cuCtxSynchronize());                                                                   \
    } while (0)

static void set_up_waits(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice = dev,
        .dstMemoryType = CU_MEMORYTYPE_HOST,
        .WidthInBytes = 64,
        .Height = 1,
        .Depth = 1,
    };

    pageable = calloc(1, 64 * MB);
    copy.dstHost = pageable;
    TRY(cuStreamCreate(&blocking, 0));
    name_as(blocking, "BLOCKING");
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    TRY(cuGraphCreate(&graph, 0));
    TRY(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, primary));
    TRY(cuGraphInstantiate(&writer, graph, 0));
}

static void q12_plain(void)
{
    CUevent sleeper = NULL;

    if (!begin())
        return;
    set_up_waits();
    TRY(cuEventCreate(&sleeper, CU_EVENT_BLOCKING_SYNC));
    WAIT("cuStreamSynchronize", stream, TRY(cuStreamSynchronize(stream)));
    WAIT("cuStreamSynchronize of a blocking stream", blocking, TRY(cuStreamSynchronize(blocking)));
    WAIT("cuStreamSynchronize of the legacy stream", blocking, TRY(cuStreamSynchronize(LEGACY)));
    WAIT("cuStreamSynchronize of the per-thread stream", CU_STREAM_PER_THREAD,
         TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD)));
    WAIT("cuCtxSynchronize", stream, TRY(cuCtxSynchronize()));
    WAIT("cuEventSynchronize", stream, TRY(cuEventSynchronize(event)));
    WAIT("cuEventSynchronize, blocking sync", stream, {
        TRY(cuEventRecord(sleeper, stream));
        TRY(cuEventSynchronize(sleeper));
    });
    WAIT("cuStreamQuery and cuEventQuery, busy", stream, {
        cuStreamQuery(stream);
        cuEventQuery(event);
    });
    WAIT("cuStreamQuery and cuEventQuery, done", stream, {
        sleep_ms(50);
        cuStreamQuery(stream);
        cuEventQuery(event);
    });
    WAIT("cuStreamSynchronize of an idle stream beside", stream,
         TRY(cuStreamSynchronize(blocking)));
    ear.ask_inside = true;
    WAIT("cuStreamSynchronize, the driver asked inside", stream, TRY(cuStreamSynchronize(stream)));
    WAIT("cuCtxSynchronize, the driver asked inside", stream, TRY(cuCtxSynchronize()));
}

static void q12_copies(void)
{
    CUdeviceptr big = 0;

    if (!begin())
        return;
    set_up_waits();
    TRY(cuMemAlloc(&big, 64 * MB));
    WAIT("cuMemcpyHtoD pinned", blocking, TRY(cuMemcpyHtoD(dev, pinned, 4 * KB)));
    WAIT("cuMemcpyHtoD pageable", blocking, TRY(cuMemcpyHtoD(dev, pageable, 4 * KB)));
    WAIT("cuMemcpyHtoD pageable 64 MB", blocking, TRY(cuMemcpyHtoD(big, pageable, 64 * MB)));
    WAIT("cuMemcpyDtoH pinned", blocking, TRY(cuMemcpyDtoH(pinned, dev, 4 * KB)));
    WAIT("cuMemcpyDtoH pageable", blocking, TRY(cuMemcpyDtoH(pageable, dev, 4 * KB)));
    WAIT("cuMemcpyDtoD", blocking, TRY(cuMemcpyDtoD(dev, dev + 32 * KB, 4 * KB)));
    WAIT("cuMemsetD8", blocking, TRY(cuMemsetD8(dev, 0, 4 * KB)));
    WAIT("cuMemsetD8 of pinned memory", blocking,
         TRY(cuMemsetD8((CUdeviceptr)(uintptr_t)pinned, 0, 4 * KB)));
    WAIT("cuMemcpyHtoDAsync pinned", stream, TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream)));
    WAIT("cuMemcpyHtoDAsync pageable 64 MB", stream,
         TRY(cuMemcpyHtoDAsync(big, pageable, 64 * MB, stream)));
    WAIT("cuMemcpyDtoHAsync pageable", stream,
         TRY(cuMemcpyDtoHAsync(pageable, dev, 4 * KB, stream)));
    WAIT("cuGraphLaunch of a pageable writer", stream, TRY(cuGraphLaunch(writer, stream)));
    WAIT("cuGraphExecDestroy beside", stream, TRY(cuGraphExecDestroy(writer)));
}

static void q12_frees(void)
{
    CUdeviceptr more = 0;
    void *host = NULL, *registered = aligned_alloc(4 * KB, 64 * KB);
    CUmemoryPool pool = NULL;
    CUmodule extra = NULL;
    CUlibrary library = NULL;
    CUstream doomed = NULL;
    CUarray array = NULL;
    CUDA_ARRAY_DESCRIPTOR shape = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};

    if (!begin())
        return;
    set_up_waits();
    TRY(cuMemAlloc(&more, 64 * KB));
    TRY(cuMemAllocHost(&host, 64 * KB));
    TRY(cuMemHostRegister(registered, 64 * KB, 0));
    TRY(cuStreamCreate(&doomed, CU_STREAM_NON_BLOCKING));
    TRY(cuArrayCreate(&array, &shape));
    TRY(cuDeviceGetDefaultMemPool(&pool, device));
    WAIT("cuMemFree", stream, TRY(cuMemFree(more)));
    WAIT("cuMemFreeHost", stream, TRY(cuMemFreeHost(host)));
    WAIT("cuMemHostUnregister", stream, TRY(cuMemHostUnregister(registered)));
    WAIT("cuMemHostRegister", stream, TRY(cuMemHostRegister(registered, 64 * KB, 0)));
    WAIT("cuMemAllocHost", stream, TRY(cuMemAllocHost(&host, 64 * KB)));
    WAIT("cuMemAlloc", stream, TRY(cuMemAlloc(&more, 64 * MB)));
    WAIT("cuModuleLoadData", stream, TRY(cuModuleLoadData(&extra, empty_ptx)));
    WAIT("cuModuleUnload", stream, TRY(cuModuleUnload(extra)));
    WAIT("cuLibraryLoadData", stream,
         TRY(cuLibraryLoadData(&library, empty_ptx, NULL, NULL, 0, NULL, NULL, 0)));
    WAIT("cuLibraryUnload", stream, TRY(cuLibraryUnload(library)));
    WAIT("cuStreamDestroy beside", stream, TRY(cuStreamDestroy(doomed)));
    WAIT("cuEventDestroy", stream, {
        TRY(cuEventDestroy(event));
        ear.tell = false;
        TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    });
    WAIT("cuArrayDestroy", stream, TRY(cuArrayDestroy(array)));
    WAIT("cuMemPoolTrimTo", stream, TRY(cuMemPoolTrimTo(pool, 0)));
    WAIT("cuCtxSetLimit of the stack", stream, TRY(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 64 * KB)));
    WAIT("cuCtxSetLimit of the heap", stream,
         TRY(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MB)));
}

static void q12_contexts(void)
{
    CUcontext context = NULL;
    CUstream other = NULL;

    if (!begin())
        return;
    set_up_waits();
    TRY(make_context(&context));
    name_as(context, "MINE");
    TRY(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    name_as(other, "other");
    keep_busy(other);
    say("Q12 cuCtxDestroy with a busy stream:");
    uint64_t start = now_ns();
    ear.tell = ear.watch_work = true;
    TRY(cuCtxDestroy(context));
    ear.tell = ear.watch_work = false;
    say(" | %.0f ms", (double)(now_ns() - start) / 1e6);
    end_line();
    TRY(cuCtxSetCurrent(primary));
    keep_busy(stream);
    say("Q12 cuDevicePrimaryCtxReset with a busy stream:");
    start = now_ns();
    ear.tell = ear.watch_work = true;
    TRY(cuDevicePrimaryCtxReset(device));
    ear.tell = ear.watch_work = false;
    say(" | %.0f ms", (double)(now_ns() - start) / 1e6);
    end_line();
}

/* ---- Q13: what it costs ---- */

enum { ROUNDS = 40, CALLS = 200 };

static double launch_ns(void)
{
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    return (double)(now_ns() - start) / CALLS;
}

static double copy_ns(void)
{
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
    return (double)(now_ns() - start) / CALLS;
}

static double captured_copy_ns(void)
{
    CUgraph graph = NULL;

    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    double took = copy_ns();
    cuStreamEndCapture(stream, &graph);
    cuGraphDestroy(graph);
    return took;
}

static double instantiate_ns(void)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;

    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    copy_ns();
    cuStreamEndCapture(stream, &graph);
    uint64_t start = now_ns();
    cuGraphInstantiate(&exec, graph, 0);
    double took = (double)(now_ns() - start) / CALLS;
    cuGraphExecDestroy(exec);
    cuGraphDestroy(graph);
    return took;
}

static double synchronise_ns(void)
{
    cuStreamSynchronize(stream);
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuStreamSynchronize(stream);
    return (double)(now_ns() - start) / CALLS;
}

static double synchronous_copy_ns(void)
{
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuMemcpyDtoH(pinned, dev, 64);
    return (double)(now_ns() - start) / CALLS;
}

static double query_ns(void)
{
    cuStreamSynchronize(stream);
    uint64_t start = now_ns();

    for (int i = 0; i < CALLS; i++)
        cuStreamQuery(stream);
    return (double)(now_ns() - start) / CALLS;
}

static double stream_ns(void)
{
    CUstream made[16];
    uint64_t start = now_ns();

    for (size_t i = 0; i < COUNT(made); i++)
        cuStreamCreate(&made[i], CU_STREAM_NON_BLOCKING);
    for (size_t i = 0; i < COUNT(made); i++)
        cuStreamDestroy(made[i]);
    return (double)(now_ns() - start) / COUNT(made);
}

static void best_of(const char *name, double (*measure)(void))
{
    double best = 1e12;

    for (int i = 0; i < ROUNDS; i++) {
        double took = measure();
        TRY(cuStreamSynchronize(stream));
        if (took < best)
            best = took;
    }
    say(" %s %.0f", name, best);
}

static void bare(void)
{
}

static void subscribed(void)
{
    load();
    subscribe();
}

static void enable(CUpti_CallbackDomain domain, unsigned first, unsigned last)
{
    for (unsigned id = first; id <= last; id++) {
        CUptiResult rc = cupti.enable(1, ear.subscriber, domain, id);
        if (rc != CUPTI_SUCCESS)
            say(" {enable %d.%u=CUPTI %d}", (int)domain, id, (int)rc);
    }
}

static void lives_of_streams(void)
{
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
           CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
}

static void ends_of_graphs(void)
{
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
           CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
           CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
}

static void nodes_created(void)
{
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
           CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
}

static void whole_resource_domain(void)
{
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
}

static void synchronise_domain(void)
{
    enable_domain(CUPTI_CB_DOMAIN_SYNCHRONIZE);
}

static void unsubscribed(void)
{
    cupti.unsubscribe(ear.subscriber);
}

/* The steps build on each beside. */
static void q13(void)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } steps[] = {
        {"no libcupti", bare},
        {"subscribed", subscribed},
        {"+ contexts and streams", lives_of_streams},
        {"+ ends of graphs and execs", ends_of_graphs},
        {"+ nodes created", nodes_created},
        {"+ the resource domain", whole_resource_domain},
        {"+ the synchronise domain", synchronise_domain},
        {"unsubscribed", unsubscribed},
    };

    if (set_up() != CUDA_SUCCESS)
        return;
    for (size_t i = 0; i < COUNT(steps); i++) {
        steps[i].make();
        say("Q13 ns a call, %s:", steps[i].name);
        best_of("launch", launch_ns);
        best_of("4 KB copy", copy_ns);
        best_of("captured copy", captured_copy_ns);
        best_of("instantiate per node", instantiate_ns);
        best_of("cuStreamSynchronize", synchronise_ns);
        best_of("cuStreamQuery", query_ns);
        best_of("cuMemcpyDtoH", synchronous_copy_ns);
        best_of("stream made and destroyed", stream_ns);
        say(" (heard %u)", atomic_exchange(&ear.calls, 0));
        end_line();
    }
}

/* Whole domains change other calls, too: the synchronise domain alone. */
static void q13_alone(void)
{
    if (set_up() != CUDA_SUCCESS)
        return;
    subscribed();
    synchronise_domain();
    say("Q13 ns a call, the synchronise domain alone:");
    best_of("launch", launch_ns);
    best_of("4 KB copy", copy_ns);
    best_of("captured copy", captured_copy_ns);
    best_of("cuStreamSynchronize", synchronise_ns);
    best_of("cuStreamQuery", query_ns);
    best_of("cuMemcpyDtoH", synchronous_copy_ns);
    end_line();
}

/* ---- Q14: does the driver hold locks while it calls back? ----
 *
 * While a callback waits, another thread makes driver calls, one after the beside. */

static const char *const other_calls[] = {"cuStreamQuery", "cuEventRecord", "cuLaunchKernel",
                                          "cuMemAlloc",    "cuGraphCreate", "cuStreamCreate",
                                          "cuCtxGetState"};

static void *call_beside(void *unused)
{
    CUdeviceptr memory = 0;
    CUgraph graph = NULL;
    CUstream made = NULL;
    unsigned flags = 0;
    int active = 0;

    (void)unused;
    while (!atomic_load(&beside.go))
        sleep_ms(1);
    cuCtxSetCurrent(primary);
    cuStreamQuery(stream);
    atomic_store(&beside.done, 1);
    cuEventRecord(beside.event, stream);
    atomic_store(&beside.done, 2);
    cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    atomic_store(&beside.done, 3);
    cuMemAlloc(&memory, 64);
    atomic_store(&beside.done, 4);
    cuGraphCreate(&graph, 0);
    atomic_store(&beside.done, 5);
    cuStreamCreate(&made, CU_STREAM_NON_BLOCKING);
    atomic_store(&beside.done, 6);
    cuDevicePrimaryCtxGetState(device, &flags, &active);
    atomic_store(&beside.done, 7);
    return NULL;
}

static void let_other_call(void)
{
    atomic_store(&beside.go, true);
    for (int i = 0; i < 150 && atomic_load(&beside.done) < COUNT(other_calls); i++)
        sleep_ms(1);
    unsigned done = atomic_load(&beside.done);
    say(" [%s]", done == COUNT(other_calls) ? "all free" : other_calls[done]);
}

/* Each in a child of its own: what is asked is which call blocks first. */
static bool begin_beside(CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (!begin() || cuEventCreate(&beside.event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return false;
    ear.wait_domain = domain;
    ear.wait_cbid = cbid;
    return pthread_create(&beside.thread, NULL, call_beside, NULL) == 0;
}

#define BESIDE(name, domain, cbid, prepare, ...)                                                   \
    static void name(void)                                                                         \
    {                                                                                              \
        if (!begin_beside(domain, cbid))                                                           \
            return;                                                                                \
        prepare;                                                                                   \
        LINE(#name, __VA_ARGS__);                                                                  \
    }

BESIDE(beside_stream_created, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED,
       CUstream made = NULL, TRY(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)))
BESIDE(beside_stream_destroyed, CUPTI_CB_DOMAIN_RESOURCE,
       CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CUstream made = NULL;
       TRY(cuStreamCreate(&made, CU_STREAM_NON_BLOCKING)), TRY(cuStreamDestroy(made)))
BESIDE(beside_context_created, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED,
       CUcontext made = NULL, TRY(make_context(&made)))
BESIDE(beside_context_destroyed, CUPTI_CB_DOMAIN_RESOURCE,
       CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUcontext made = NULL;
       TRY(make_context(&made)), TRY(cuCtxDestroy(made)))
BESIDE(beside_graph_destroyed, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING,
       CUgraph graph = captured(CU_STREAM_CAPTURE_MODE_RELAXED), TRY(cuGraphDestroy(graph)))
BESIDE(beside_node_created, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
       (void)0, captured(CU_STREAM_CAPTURE_MODE_RELAXED))
BESIDE(beside_exec_destroyed, CUPTI_CB_DOMAIN_RESOURCE,
       CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING,
       CUgraph graph = captured(CU_STREAM_CAPTURE_MODE_RELAXED);
       CUgraphExec exec = NULL;
       TRY(cuGraphInstantiate(&exec, graph, 0)), TRY(cuGraphExecDestroy(exec)))
BESIDE(beside_stream_waited_for, CUPTI_CB_DOMAIN_SYNCHRONIZE,
       CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED, (void)0, TRY(cuStreamSynchronize(stream)))
BESIDE(beside_context_waited_for, CUPTI_CB_DOMAIN_SYNCHRONIZE,
       CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED, (void)0, TRY(cuCtxSynchronize()))
BESIDE(beside_free, CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
       CUdeviceptr memory = 0;
       TRY(cuMemAlloc(&memory, 64 * MB)), TRY(cuMemFree(memory)))

/* ---- the list, and the processes that work through it ---- */

static const struct question {
    int number;
    void (*ask)(void);
} questions[] = {
    {10, q10},
    {10, q10_inside},
    {10, q10_inside_capture},
    {11, q11_early},
    {11, q11_contexts},
    {11, q11_stream_busy},
    {11, q11_primary},
    {11, q11_runtime},
    {11, q11_green},
    {12, q12_plain},
    {12, q12_copies},
    {12, q12_frees},
    {12, q12_contexts},
    {13, q13},
    {13, q13_alone},
    {14, beside_stream_created},
    {14, beside_stream_destroyed},
    {14, beside_context_created},
    {14, beside_context_destroyed},
    {14, beside_graph_destroyed},
    {14, beside_node_created},
    {14, beside_exec_destroyed},
    {14, beside_stream_waited_for},
    {14, beside_context_waited_for},
    {14, beside_free},
};

static bool is_wanted(const struct question *q, int argc, char **argv)
{
    if (argc < 2)
        return true;
    for (int i = 1; i < argc; i++)
        if (atoi(argv[i]) == q->number)
            return true;
    return false;
}

static void ask(const struct question *q)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(CHILD_LIMIT_S);
        question = q->number;
        q->ask();
        if (*midway)
            end_line();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return;
    if (WIFSIGNALED(status))
        say(" DIED of signal %d%s", WTERMSIG(status),
            WTERMSIG(status) == SIGALRM ? " (too long)" : "");
    if (*midway)
        end_line();
}

int main(int argc, char **argv)
{
    void *shared =
        mmap(NULL, sizeof(*midway), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED) {
        perror("probe_resource: mmap");
        return 1;
    }
    midway = shared;
    for (size_t i = 0; i < COUNT(questions); i++)
        if (is_wanted(&questions[i], argc, argv))
            ask(&questions[i]);
    puts("probe_resource done");
    return 0;
}
