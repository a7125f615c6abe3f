/* What the callbacks cost, and which locks the driver holds in them. */
#include "ear.h"

/* ---- Q13: what it costs ---- */

enum { ROUNDS = 40 };

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
    return NS_EACH(CALLS, cuStreamSynchronize(stream));
}

static double synchronous_copy_ns(void)
{
    return NS_EACH(CALLS, cuMemcpyDtoH(pinned, dev, 64));
}

static double query_ns(void)
{
    cuStreamSynchronize(stream);
    return NS_EACH(CALLS, cuStreamQuery(stream));
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

static void bare(void)
{
}

static void subscribed(void)
{
    load_cupti();
    subscribe();
}

static void enable_all(CUpti_CallbackId first, CUpti_CallbackId last)
{
    for (CUpti_CallbackId id = first; id <= last; id++)
        enable(CUPTI_CB_DOMAIN_RESOURCE, id);
}

static void lives_of_streams(void)
{
    enable_all(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
}

static void ends_of_graphs(void)
{
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
}

static void nodes_created(void)
{
    enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
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
    cupti.unsubscribe(subscriber);
}

/* The steps build on each beside. */
void q13(void)
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
        tell_best("launch", ROUNDS, launch_ns);
        tell_best("4 KB copy", ROUNDS, copy_ns);
        tell_best("captured copy", ROUNDS, captured_copy_ns);
        tell_best("instantiate per node", ROUNDS, instantiate_ns);
        tell_best("cuStreamSynchronize", ROUNDS, synchronise_ns);
        tell_best("cuStreamQuery", ROUNDS, query_ns);
        tell_best("cuMemcpyDtoH", ROUNDS, synchronous_copy_ns);
        tell_best("stream made and destroyed", ROUNDS, stream_ns);
        say(" (heard %u)", atomic_exchange(&ear.calls, 0));
        end_line();
    }
}

/* Whole domains change other calls, too: the synchronise domain alone. */
void q13_alone(void)
{
    if (set_up() != CUDA_SUCCESS)
        return;
    subscribed();
    synchronise_domain();
    say("Q13 ns a call, the synchronise domain alone:");
    tell_best("launch", ROUNDS, launch_ns);
    tell_best("4 KB copy", ROUNDS, copy_ns);
    tell_best("captured copy", ROUNDS, captured_copy_ns);
    tell_best("cuStreamSynchronize", ROUNDS, synchronise_ns);
    tell_best("cuStreamQuery", ROUNDS, query_ns);
    tell_best("cuMemcpyDtoH", ROUNDS, synchronous_copy_ns);
    end_line();
}

/* ---- Q14: does the driver hold locks while it calls back? ----
 *
 * While a callback waits, another thread makes driver calls, one after the beside. */

static struct {
    _Atomic bool go;
    _Atomic unsigned done;
    CUevent event;
} beside;

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
    launch(empty_kernel, stream);
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
    ear.meanwhile = let_other_call;
    ear.has_other = pthread_create(&ear.other, NULL, call_beside, NULL) == 0;
    return ear.has_other;
}

#define BESIDE(name, domain, cbid, prepare, ...)                                                   \
    void name(void)                                                                                \
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
