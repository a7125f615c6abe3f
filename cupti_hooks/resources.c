#include "cupti_hooks/resources.h"

#include "cupti_hooks/current_call.h"

#include "common/poison.h"

static sc_news_receiver *receiver;

/* Sets the function that is told of streams, contexts, graphs and modules, and of waits. */
void sc_resources_start(sc_news_receiver *receive)
{
    receiver = receive;
}

static const struct {
    CUpti_CallbackDomain domain;
    uint32_t id;
    enum sc_news_kind kind;
} rows[] = {
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED, SC_NEWS_STREAM_NAMED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, SC_NEWS_STREAM_ENDS},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, SC_NEWS_CONTEXT_ENDS},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, SC_NEWS_GRAPH_ENDS},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, SC_NEWS_GRAPH_ENDS},
    {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED,
     SC_NEWS_STREAM_WAITED},
    {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED,
     SC_NEWS_CONTEXT_WAITED},
    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED, SC_NEWS_MODULE_LOADED},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

/* Calls `enable` for each callback of CUPTI's that makes news. */
void sc_resources_each(void (*enable)(CUpti_CallbackDomain domain, uint32_t id))
{
    for (int i = 0; i < ROWS; i++)
        enable(rows[i].domain, rows[i].id);
}

/* Returns the handle of the executable graph, or else of the graph, that ends; 0: CUPTI does not
 * say. */
static uintptr_t graph_of(const CUpti_ResourceData *data)
{
    const CUpti_GraphData *graph = data->resourceDescriptor;
    if (!graph)
        return 0;
    return (uintptr_t)(graph->graphExec ? (void *)graph->graphExec : (void *)graph->graph);
}

/* Returns the handle that a callback of this kind is about, from CUPTI's data; 0: none. */
static uintptr_t handle_of(enum sc_news_kind kind, const void *about)
{
    const CUpti_ResourceData *resource = about;
    const CUpti_SynchronizeData *wait = about;
    switch (kind) {
    case SC_NEWS_STREAM_NAMED:
    case SC_NEWS_STREAM_ENDS:
        return (uintptr_t)resource->resourceHandle.stream;
    case SC_NEWS_CONTEXT_ENDS:
    case SC_NEWS_MODULE_LOADED:
        return (uintptr_t)resource->context;
    case SC_NEWS_GRAPH_ENDS:
        return graph_of(resource);
    case SC_NEWS_STREAM_WAITED:
        return (uintptr_t)wait->stream;
    case SC_NEWS_CONTEXT_WAITED:
        return (uintptr_t)wait->context;
    }
    return 0;
}

/* Takes the code of a loaded module from CUPTI's data; CUPTI may not have it. */
static void read_module(const void *about, struct sc_news *news)
{
    const CUpti_ModuleResourceData *module =
        ((const CUpti_ResourceData *)about)->resourceDescriptor;
    if (!module)
        return;
    news->image = module->pCubin;
    news->image_bytes = module->pCubin ? module->cubinSize : 0;
}

/* Must the receiver be told, since the library does not learn of this otherwise? Wrappers and
 * followed calls (calls past a wrapper that are told of one by one) note what they do themselves.
 * But nobody else knows which child graphs end with their graph and which modules a call loads; and
 * a followed call that ends a device's primary context does not know which context that was. */
static bool is_due(enum sc_news_kind kind)
{
    if (kind == SC_NEWS_GRAPH_ENDS || kind == SC_NEWS_MODULE_LOADED)
        return true;
    return !sc_current_call_is_carried() &&
           (!sc_current_call.followed || kind == SC_NEWS_CONTEXT_ENDS);
}

/* Tells the receiver. Driver calls that it makes are the library's own (SC_CARRY). Within a wrapper
 * that is noted already, and another SC_CARRY would make it forget the id of its call. */
static void deliver_news(const struct sc_news *news)
{
    if (sc_current_call_is_carried()) {
        receiver(news);
    } else {
        SC_CARRY();
        receiver(news);
    }
}

/* Handles a callback of CUPTI about a stream, context, graph, module or wait: tells the receiver of
 * it if that is due (is_due), and if CUPTI says which one it is about. */
void sc_resources_receive(CUpti_CallbackDomain domain, uint32_t id, const void *about)
{
    for (int i = 0; about && i < ROWS; i++) {
        struct sc_news news = {.kind = rows[i].kind};
        if (rows[i].domain != domain || rows[i].id != id || !is_due(news.kind))
            continue;
        news.handle = handle_of(news.kind, about);
        if (news.kind == SC_NEWS_MODULE_LOADED)
            read_module(about, &news);
        if (news.handle)
            deliver_news(&news);
    }
}
