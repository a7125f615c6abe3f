/*
 * A libcupti of callbacks: one subscriber, the driver and the runtime domain, enter and exit, and
 * the domains of resources and synchronisation. (Activity records are in activity.c.)
 *
 * The calls are announced by the simulated libcuda and libcudart; a program with another runtime
 * (a static one) gets driver callbacks only. Callbacks run on the calling thread. What a callback
 * calls is announced in its turn, so that a subscriber meets its own recursion here as well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include <cupti.h>
#pragma GCC visibility pop

#include "../cuda/sim_hooks.h"
#include "../cudart/sim_cudart_hooks.h"
#include "cupti_sim.h"

#define MAX_CBID 1024
#define MAX_NESTED 16
#define MAX_NAME 96

struct CUpti_Subscriber_st {
    CUpti_CallbackFunc callback;
    void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUpti_Subscriber_st the_subscriber;
static char subscriber_name[CUPTI_SUBSCRIBER_NAME_MAX_LEN]; /* guarded by the lock */
static _Atomic(CUpti_SubscriberHandle) subscriber;
static _Atomic unsigned char enabled[CUPTI_CB_DOMAIN_SIZE][MAX_CBID];
static _Atomic uint32_t correlation_ids;

static struct {
    sim_cuda_set_callback_fn *hear_driver;
    sim_cuda_set_event_callback_fn *hear_events;
    void (*hear_runtime)(sim_cudart_callback *);
    const char *(*runtime_name)(int);
    sim_cuda_set_activity_fn *hear_activity;
    CUresult (*current_context)(CUcontext *);
    CUresult (*synchronise)(void);
    CUresult (*initialise)(unsigned); /* as it is found: a preloaded library's, perhaps */
} sim;

/* The calls under way on this thread; exit finds there what enter left. */
static __thread struct {
    uint32_t id;
    uint64_t data;
} calls[MAX_NESTED];
static __thread unsigned depth;
static __thread int is_asking; /* our own look-up of the context is nobody's business */

static CUcontext context_of_thread(void)
{
    CUcontext context = NULL;
    is_asking = 1;
    if (!sim.current_context || sim.current_context(&context) != CUDA_SUCCESS)
        context = NULL;
    is_asking = 0;
    return context;
}

/* "cudaMemcpyAsync" of "cudaMemcpyAsync_v3020"; a driver symbol is its own name. The strings live
 * for ever. */
static const char *function_name(CUpti_CallbackDomain domain, int cbid, const char *symbol)
{
    static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;
    static char names[MAX_CBID][MAX_NAME];
    if (domain != CUPTI_CB_DOMAIN_RUNTIME_API)
        return symbol;
    pthread_mutex_lock(&names_lock);
    if (!names[cbid][0]) {
        const char *version = strrchr(symbol, '_');
        size_t length = version && version[1] == 'v' ? (size_t)(version - symbol) : strlen(symbol);
        memcpy(names[cbid], symbol, length < MAX_NAME ? length : MAX_NAME - 1);
    }
    pthread_mutex_unlock(&names_lock);
    return names[cbid];
}

static void deliver(CUpti_CallbackDomain domain, int enter, int cbid, const char *symbol,
                    void *args, void *result)
{
    CUpti_SubscriberHandle to = atomic_load(&subscriber);
    if (!to || !atomic_load_explicit(&enabled[domain][cbid], memory_order_relaxed))
        return;
    CUcontext context = context_of_thread();
    CUpti_CallbackData data = {
        .callbackSite = enter ? CUPTI_API_ENTER : CUPTI_API_EXIT,
        .functionName = function_name(domain, cbid, symbol),
        .functionParams = args,
        .functionReturnValue = enter ? NULL : result,
        .context = context,
        .contextUid = context ? 1 : 0,
        .correlationData = &calls[depth].data,
        .correlationId = calls[depth].id,
    };
    depth++;
    to->callback(to->user, domain, (CUpti_CallbackId)cbid, &data);
    depth--;
}

/* A call keeps one cell of `calls` from its entry to its exit, the calls inside it those above. */
static void hear(CUpti_CallbackDomain domain, int enter, int cbid, const char *symbol, void *args,
                 void *result)
{
    if (is_asking || cbid < 0 || cbid >= MAX_CBID)
        return;
    if (!enter && depth > 0)
        depth--;
    if (depth + 1 < MAX_NESTED) {
        if (enter) {
            calls[depth].id = atomic_fetch_add(&correlation_ids, 1) + 1;
            calls[depth].data = 0;
        }
        deliver(domain, enter, cbid, symbol, args, result);
    }
    if (enter)
        depth++;
}

/* SIM_CUPTI: `held`, by a tool that was there first; `broken`, as on a machine that CUPTI does not
 * support; `old`, by cuptiGetVersion; `later`, of its threads; `unpermitted` and `uncounted`, of
 * what it counts of managed memory. */
int cupti_sim_is_asked_to_be(const char *way)
{
    const char *asked = getenv("SIM_CUPTI");
    return asked && strcmp(asked, way) == 0;
}

static void *wait_for_work(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* As the real one does. They have their creator's mask, and nothing to do. */
static void start_threads(void)
{
    enum { THREADS = 2, STACK_BYTES = 64 * 1024 };
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, &attributes, wait_for_work, NULL) != 0)
            break;
    pthread_attr_destroy(&attributes);
}

static _Atomic int starts_later;

static void start_threads_now_or_later(void)
{
    static bool started;
    if (!started && cupti_sim_is_asked_to_be("later"))
        atomic_store(&starts_later, 1);
    else if (!started)
        start_threads();
    started = true;
}

static void hear_driver(int enter, int cbid, const char *symbol, void *args, CUresult result)
{
    if (atomic_load_explicit(&starts_later, memory_order_relaxed) &&
        atomic_exchange(&starts_later, 0))
        start_threads();
    hear(CUPTI_CB_DOMAIN_DRIVER_API, enter, cbid, symbol, args, &result);
    if (!enter && !is_asking)
        cupti_sim_call_ended();
}

static void hear_runtime(int enter, int cbid, const char *symbol, void *args, int result)
{
    hear(CUPTI_CB_DOMAIN_RUNTIME_API, enter, cbid, symbol, args, &result);
}

/* As CUPTI lays out what its domain of resources tells: one struct for contexts and streams, a
 * second one behind it for graphs. */
static void hear_resource(CUpti_SubscriberHandle to, const struct sim_event *event)
{
    CUpti_GraphData graph = {
        .graph = event->graph,
        .originalGraph = event->original_graph,
        .node = event->node,
        .originalNode = event->original_node,
        .nodeType = event->node_type,
        .graphExec = event->exec,
    };
    CUpti_ModuleResourceData module = {
        .moduleId = 1, .cubinSize = event->image_bytes, .pCubin = event->image};
    int of_graph = event->graph || event->node || event->exec;
    CUpti_ResourceData data = {
        .context = event->context,
        .resourceHandle.stream = event->stream,
        .resourceDescriptor = of_graph       ? (void *)&graph
                              : event->image ? &module
                                             : NULL,
    };
    to->callback(to->user, CUPTI_CB_DOMAIN_RESOURCE, event->resource, &data);
}

#define SAME(ours, cupti) _Static_assert((int)(ours) == (int)(cupti), "as CUPTI numbers it")
SAME(SIM_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
SAME(SIM_CONTEXT_ENDS, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
SAME(SIM_STREAM_CREATED, CUPTI_CBID_RESOURCE_STREAM_CREATED);
SAME(SIM_STREAM_ENDS, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
SAME(SIM_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_LOADED);
SAME(SIM_GRAPH_CREATED, CUPTI_CBID_RESOURCE_GRAPH_CREATED);
SAME(SIM_GRAPH_ENDS, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
SAME(SIM_NODE_BEGINS, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
SAME(SIM_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME(SIM_NODE_ENDS, CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
SAME(SIM_EXEC_BEGINS, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
SAME(SIM_EXEC_CREATED, CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
SAME(SIM_EXEC_ENDS, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
SAME(SIM_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME(SIM_STREAM_WAITED_FOR, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
SAME(SIM_CONTEXT_WAITED_FOR, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);

static void hear_event(const struct sim_event *event)
{
    CUpti_SubscriberHandle to = atomic_load(&subscriber);
    if (to && event->resource && enabled[CUPTI_CB_DOMAIN_RESOURCE][event->resource])
        hear_resource(to, event);
    if (!to || !event->wait || !enabled[CUPTI_CB_DOMAIN_SYNCHRONIZE][event->wait])
        return;
    CUpti_SynchronizeData data = {.context = event->context, .stream = event->stream};
    to->callback(to->user, CUPTI_CB_DOMAIN_SYNCHRONIZE, event->wait, &data);
}

static void find_simulator(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver) {
        sim.hear_driver =
            (sim_cuda_set_callback_fn *)(uintptr_t)dlsym(driver, "sim_cuda_set_callback");
        sim.hear_events = (sim_cuda_set_event_callback_fn *)(uintptr_t)dlsym(
            driver, "sim_cuda_set_event_callback");
        *(void **)&sim.initialise = dlsym(driver, "cuInit");
        sim.hear_activity =
            (sim_cuda_set_activity_fn *)(uintptr_t)dlsym(driver, "sim_cuda_set_activity");
        *(void **)&sim.current_context = dlsym(driver, "cuCtxGetCurrent");
        *(void **)&sim.synchronise = dlsym(driver, "cuCtxSynchronize");
    }
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
    if (runtime) {
        *(void **)&sim.hear_runtime = dlsym(runtime, "sim_cudart_set_callback");
        *(void **)&sim.runtime_name = dlsym(runtime, "sim_cudart_name");
    }
}

static int is_recording; /* activity: calls are numbered without a subscriber, too */

/* Once: no lock may be held that a call of the driver's could need. */
int cupti_sim_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_simulator);
    return sim.hear_driver && sim.hear_activity;
}

static void listen_to_simulator(int on)
{
    on = on || is_recording;
    if (sim.hear_driver)
        sim.hear_driver(on ? hear_driver : NULL);
    if (sim.hear_events)
        sim.hear_events(on ? hear_event : NULL);
    if (sim.hear_runtime)
        sim.hear_runtime(on ? hear_runtime : NULL);
}

void cupti_sim_record(const struct sim_activity_hooks *hooks, int on)
{
    pthread_mutex_lock(&lock);
    is_recording = on;
    listen_to_simulator(atomic_load(&subscriber) != NULL);
    sim.hear_activity(hooks);
    pthread_mutex_unlock(&lock);
}

/* What runs inside of a driver call is in the cell below the one that is free. */
uint32_t cupti_sim_correlation_id(void)
{
    return depth > 0 && depth <= MAX_NESTED ? calls[depth - 1].id : 0;
}

void cupti_sim_synchronise(void)
{
    if (sim.synchronise && context_of_thread()) {
        is_asking = 1;
        sim.synchronise();
        is_asking = 0;
    }
}

static CUptiResult refuse(CUpti_SubscriberParams *parameters, const char *holder)
{
    if (parameters && parameters->oldSubscriberName && parameters->oldSubscriberSize)
        snprintf(parameters->oldSubscriberName, parameters->oldSubscriberSize, "CUPTI for %s",
                 holder);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

static CUptiResult subscribe_locked(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                                    void *user, CUpti_SubscriberParams *parameters)
{
    if (cupti_sim_is_asked_to_be("held"))
        return refuse(parameters, "a tool");
    if (atomic_load(&subscriber))
        return refuse(parameters, subscriber_name);
    the_subscriber = (struct CUpti_Subscriber_st){callback, user};
    snprintf(subscriber_name, sizeof subscriber_name, "%s",
             parameters && parameters->subscriberName ? parameters->subscriberName : "");
    start_threads_now_or_later();
    atomic_store(&subscriber, &the_subscriber);
    listen_to_simulator(1);
    *handle = &the_subscriber;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
                              void *user, CUpti_SubscriberParams *parameters)
{
    cupti_sim_find();
    if (sim.initialise)
        sim.initialise(0);
    if (!handle || !callback ||
        (parameters && parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (!sim.hear_driver || cupti_sim_is_asked_to_be("broken"))
        return CUPTI_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&lock);
    CUptiResult result = subscribe_locked(handle, callback, user, parameters);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Calls the other by its public name, as libraries do: a preloaded one is met again there. */
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user)
{
    return cuptiSubscribe_v2(handle, callback, user, NULL);
}

static void unsubscribe_locked(void)
{
    listen_to_simulator(0);
    atomic_store(&subscriber, NULL);
    memset(enabled, 0, sizeof enabled);
}

/* Of a handle that is no subscriber any more it says nothing, as the real one does. */
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
    if (!handle)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    if (handle == atomic_load(&subscriber))
        unsubscribe_locked();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void)
{
    pthread_mutex_lock(&lock);
    if (atomic_load(&subscriber))
        unsubscribe_locked();
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static int is_known(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
    return handle && handle == atomic_load(&subscriber) && domain > CUPTI_CB_DOMAIN_INVALID &&
           domain < CUPTI_CB_DOMAIN_SIZE;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (!is_known(handle, domain) || cbid >= MAX_CBID)
        return CUPTI_ERROR_INVALID_PARAMETER;
    atomic_store(&enabled[domain][cbid], enable != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain)
{
    if (!is_known(handle, domain))
        return CUPTI_ERROR_INVALID_PARAMETER;
    for (int cbid = 1; cbid < MAX_CBID; cbid++)
        atomic_store(&enabled[domain][cbid], enable != 0);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
    CUptiResult result = CUPTI_SUCCESS;
    for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE && result == CUPTI_SUCCESS; domain++)
        result = cuptiEnableDomain(enable, handle, (CUpti_CallbackDomain)domain);
    return result;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
    if (!enable || !is_known(handle, domain) || cbid >= MAX_CBID)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *enable = atomic_load(&enabled[domain][cbid]);
    return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
    static CUpti_CallbackDomain supported[] = {
        CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
        CUPTI_CB_DOMAIN_SYNCHRONIZE};
    if (!domainCount || !domainTable)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *domainCount = sizeof supported / sizeof *supported;
    *domainTable = supported;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    if (!name)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *name = NULL;
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && sim.runtime_name)
        *name = sim.runtime_name((int)cbid);
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
        *name = cupti_sim_driver_name(cbid);
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
    if (!str)
        return CUPTI_ERROR_INVALID_PARAMETER;
    switch (result) {
    case CUPTI_SUCCESS:
        *str = "CUPTI_SUCCESS";
        break;
    case CUPTI_ERROR_INVALID_PARAMETER:
        *str = "CUPTI_ERROR_INVALID_PARAMETER";
        break;
    case CUPTI_ERROR_NOT_INITIALIZED:
        *str = "CUPTI_ERROR_NOT_INITIALIZED";
        break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
        *str = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
        break;
    case CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED:
        *str = "CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED";
        break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *str = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default:
        *str = "CUPTI_ERROR_UNKNOWN";
        break;
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
    if (!version)
        return CUPTI_ERROR_INVALID_PARAMETER;
    *version = cupti_sim_is_asked_to_be("old") ? 10 : CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
    if (!timestamp)
        return CUPTI_ERROR_INVALID_PARAMETER;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *timestamp = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return CUPTI_SUCCESS;
}
