#include "ear.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct ear ear;

/* ---- handles have names ---- */

static struct {
    const void *handle;
    char name[16];
} names[512];
static unsigned name_count;

void name_as(const void *handle, const char *name)
{
    for (unsigned i = 0; i < name_count; i++)
        if (names[i].handle == handle) {
            say(" {%s is %s}", names[i].name, name);
            snprintf(names[i].name, sizeof names[i].name, "%s", name);
            return;
        }
    if (!handle || name_count == COUNT(names))
        return;
    names[name_count].handle = handle;
    snprintf(names[name_count++].name, sizeof names[0].name, "%s", name);
}

const char *name_of(const void *handle, const char *kind)
{
    char name[16];

    if (!handle)
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

/* ---- what is heard ---- */

static void tell_thread(void)
{
    if (ear.caller != thread_id())
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
    if ((value))                                                                                   \
    say(" " letter "=%s", name_of((value), (kind)))

static void tell_graph(const CUpti_GraphData *graph)
{
    FIELD("g", graph->graph, "G");
    FIELD("og", graph->originalGraph, "G");
    FIELD("n", graph->node, "N");
    FIELD("on", graph->originalNode, "N");
    FIELD("dep", graph->dependency, "N");
    FIELD("e", graph->graphExec, "E");
    if (graph->node)
        say(" type=%d", (int)graph->nodeType);
}

static void ask_about_node(const CUpti_GraphData *graph)
{
    CUgraphNodeType type = (CUgraphNodeType)-1;
    CUDA_MEMCPY3D copy;
    size_t count = 0;

    if (!graph->node)
        return;
    CUresult rc = cuGraphNodeGetType(graph->node, &type);
    say(" [type %d=%d", (int)type, (int)rc);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY)
        say(" params=%d", (int)cuGraphMemcpyNodeGetParams(graph->node, &copy));
    if (graph->graph)
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
    say(" r%u<%s", cbid, !data ? "nothing>" : "");
    tell_thread();
    if (!data)
        return;
    if (is_of_graphs(cbid)) {
        if (data->resourceDescriptor) {
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
    if (!ear.tell || asking || (ear.has_other && pthread_equal(pthread_self(), ear.other)))
        return;
    asking = true;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        hear_driver(about);
    else if (domain == CUPTI_CB_DOMAIN_RESOURCE)
        hear_resource(cbid, about);
    else if (domain == CUPTI_CB_DOMAIN_SYNCHRONIZE)
        hear_synchronise(cbid, about);
    if (ear.meanwhile && domain == ear.wait_domain && cbid == ear.wait_cbid)
        ear.meanwhile();
    asking = false;
}

/* ---- the world ---- */

CUresult set_up(void)
{
    CUresult rc = set_up_with(64 * KB);

    name_as(primary, "PRIMARY");
    name_as(stream, "STREAM");
    return rc;
}

bool subscribe(void)
{
    CUptiResult rc = cupti.subscribe(&subscriber, hear, NULL);

    ear.caller = thread_id();
    if (rc != CUPTI_SUCCESS)
        say(" {subscribe=CUPTI %d}", (int)rc);
    return rc == CUPTI_SUCCESS;
}

bool listen_to_all(void)
{
    if (!load_cupti() || !subscribe())
        return false;
    enable_domain(CUPTI_CB_DOMAIN_DRIVER_API);
    enable_domain(CUPTI_CB_DOMAIN_RESOURCE);
    enable_domain(CUPTI_CB_DOMAIN_SYNCHRONIZE);
    return true;
}

bool begin(void)
{
    return set_up() == CUDA_SUCCESS && listen_to_all();
}

static void CUDA_CB dawdle(void *unused)
{
    (void)unused;
    sleep_ms(30);
    atomic_store(&ear.work_is_done, true);
}

void keep_busy(CUstream which)
{
    atomic_store(&ear.work_is_done, false);
    TRY(cuLaunchHostFunc(which, dawdle, NULL));
}

CUresult make_context(CUcontext *context)
{
    return cuCtxCreate(context, NULL, 0, device);
}

CUgraph captured(CUstreamCaptureMode mode)
{
    CUgraph graph = NULL;

    TRY(cuStreamBeginCapture(stream, mode));
    TRY(cuMemcpyHtoDAsync(dev, pinned, 64, stream));
    TRY(cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    TRY(cuStreamEndCapture(stream, &graph));
    return graph;
}
