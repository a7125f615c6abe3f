/*
 * The simulated libcupti against the simulated driver and runtime: one subscriber, matching pairs
 * of callbacks in both domains, the arguments and results in them, names, silence afterwards, and
 * what the domains of resources and synchronisation told on an H200
 * (tests/gpu/probes/probe_resource.c).
 */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* libcupti is loaded, never linked. */
static struct {
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiSubscribe_v2) subscribe_v2;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable_callback;
    __typeof__(&cuptiEnableDomain) enable_domain;
    __typeof__(&cuptiGetCallbackName) name;
} cupti;

static void load(void)
{
    void *library = dlopen("libcupti.so.13", RTLD_NOW);
    CHECK(library);
    *(void **)&cupti.subscribe = dlsym(library, "cuptiSubscribe");
    *(void **)&cupti.subscribe_v2 = dlsym(library, "cuptiSubscribe_v2");
    *(void **)&cupti.unsubscribe = dlsym(library, "cuptiUnsubscribe");
    *(void **)&cupti.enable_callback = dlsym(library, "cuptiEnableCallback");
    *(void **)&cupti.enable_domain = dlsym(library, "cuptiEnableDomain");
    *(void **)&cupti.name = dlsym(library, "cuptiGetCallbackName");
    CHECK(cupti.subscribe && cupti.unsubscribe && cupti.enable_callback && cupti.enable_domain);
    CHECK(cupti.name);
}

static struct {
    int enters, exits, last_result;
    uint32_t id;
    uint64_t size;
    const void *source;
    CUcontext context;
    char name[64];
} seen[CUPTI_CB_DOMAIN_SIZE];

static void CUPTIAPI hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                          const void *about)
{
    const CUpti_CallbackData *data = about;
    CHECK(user == &seen);
    if (data->callbackSite == CUPTI_API_ENTER) {
        seen[domain].enters++;
        seen[domain].id = data->correlationId;
        CHECK(*data->correlationData == 0);
        *data->correlationData = 1000 + data->correlationId;
    } else {
        seen[domain].exits++;
        seen[domain].last_result = *(const int *)data->functionReturnValue;
        CHECK(data->correlationId == seen[domain].id);
        CHECK(*data->correlationData == 1000 + data->correlationId);
    }
    seen[domain].context = data->context;
    snprintf(seen[domain].name, sizeof seen[domain].name, "%s", data->functionName);
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API &&
        cbid == CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2) {
        const cuMemcpyHtoDAsync_v2_params *args = data->functionParams;
        seen[domain].size = args->ByteCount;
        seen[domain].source = args->srcHost;
    }
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
        cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020) {
        const cudaMemcpyAsync_v3020_params *args = data->functionParams;
        seen[domain].size = args->count;
        seen[domain].source = args->src;
    }
}

static void test_one_subscriber(void)
{
    CUpti_SubscriberHandle first, second;
    CHECK(cupti.subscribe(&first, hear, &seen) == CUPTI_SUCCESS);
    CHECK(cupti.subscribe(&second, hear, &seen) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK(cupti.unsubscribe(first) == CUPTI_SUCCESS);

    char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
    CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                         .subscriberName = "me",
                                         .oldSubscriberName = holder,
                                         .oldSubscriberSize = sizeof holder};
    CHECK(cupti.subscribe_v2(&first, hear, &seen, &parameters) == CUPTI_SUCCESS);
    CHECK(cupti.subscribe_v2(&second, hear, &seen, &parameters) ==
          CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    CHECK(strcmp(holder, "CUPTI for me") == 0);
    parameters.structSize = 0;
    CHECK(cupti.subscribe_v2(&second, hear, &seen, &parameters) == CUPTI_ERROR_INVALID_PARAMETER);
    CHECK(cupti.unsubscribe(first) == CUPTI_SUCCESS);
    CHECK(cupti.unsubscribe(first) == CUPTI_SUCCESS);
    CHECK(cupti.unsubscribe(NULL) == CUPTI_ERROR_INVALID_PARAMETER);
}

static void test_one_copy(void *device, void *host)
{
    CUpti_SubscriberHandle subscriber;
    memset(seen, 0, sizeof seen);
    CHECK(cupti.subscribe(&subscriber, hear, &seen) == CUPTI_SUCCESS);
    CHECK(cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
                                CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2) == CUPTI_SUCCESS);
    CHECK(cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020) == CUPTI_SUCCESS);
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, 0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(0) == cudaSuccess);
    for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain <= CUPTI_CB_DOMAIN_RUNTIME_API; domain++) {
        CHECK(seen[domain].enters == 1 && seen[domain].exits == 1);
        CHECK(seen[domain].last_result == 0);
        CHECK(seen[domain].size == 64 && seen[domain].source == host);
        CHECK(seen[domain].context != NULL);
    }
    CHECK(strcmp(seen[CUPTI_CB_DOMAIN_DRIVER_API].name, "cuMemcpyHtoDAsync_v2") == 0);
    CHECK(strcmp(seen[CUPTI_CB_DOMAIN_RUNTIME_API].name, "cudaMemcpyAsync") == 0);

    CHECK(cudaMemcpyAsync(device, host, 64, (enum cudaMemcpyKind)9, 0) ==
          cudaErrorInvalidMemcpyDirection);
    CHECK(seen[CUPTI_CB_DOMAIN_RUNTIME_API].last_result == cudaErrorInvalidMemcpyDirection);
    CHECK(seen[CUPTI_CB_DOMAIN_DRIVER_API].exits == 1);
    CHECK(cupti.unsubscribe(subscriber) == CUPTI_SUCCESS);
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, 0) == cudaSuccess);
    CHECK(seen[CUPTI_CB_DOMAIN_RUNTIME_API].exits == 2);
}

static void test_domain(void *device)
{
    CUpti_SubscriberHandle subscriber;
    memset(seen, 0, sizeof seen);
    CHECK(cupti.subscribe(&subscriber, hear, &seen) == CUPTI_SUCCESS);
    CHECK(cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) == CUPTI_SUCCESS);
    CHECK(cudaMemset(device, 0, 16) == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(seen[CUPTI_CB_DOMAIN_RUNTIME_API].exits == 2);
    CHECK(seen[CUPTI_CB_DOMAIN_DRIVER_API].exits == 0);
    CHECK(cupti.unsubscribe(subscriber) == CUPTI_SUCCESS);
}

/* ---- resources and waits ---- */

static struct {
    char text[512];
    CUstream stream;
    CUgraph graph, graph_of_node;
    CUcontext context;
    CUgraphNode node, original_node;
    CUgraphNodeType type;
} story;

static void hear_story(CUpti_CallbackId cbid, const CUpti_ResourceData *data)
{
    const CUpti_GraphData *graph = data->resourceDescriptor;
    size_t length = strlen(story.text);
    snprintf(story.text + length, sizeof story.text - length, "%u ", cbid);
    if (cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED)
        story.stream = data->resourceHandle.stream;
    if (cbid == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
        story.context = data->context;
    if (cbid == CUPTI_CBID_RESOURCE_GRAPH_CREATED)
        story.graph = graph->graph;
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING)
        story.type = graph->nodeType;
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
        story.node = graph->node;
        story.graph_of_node = graph->graph;
    }
    if (cbid == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) {
        CHECK(graph->node == story.node);
        story.original_node = graph->originalNode;
    }
}

static void CUPTIAPI hear_more(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                               const void *about)
{
    const CUpti_SynchronizeData *wait = about;
    size_t length = strlen(story.text);
    (void)user;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        hear_story(cbid, about);
        return;
    }
    CHECK(domain == CUPTI_CB_DOMAIN_SYNCHRONIZE);
    snprintf(story.text + length, sizeof story.text - length, "s%u ", cbid);
    CHECK((cbid == CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED) == (wait->stream != NULL));
    CHECK(wait->context != NULL);
}

static void expect_story(const char *wanted)
{
    if (strcmp(story.text, wanted) != 0)
        fprintf(stderr, "told %s, not %s\n", story.text, wanted);
    CHECK(strcmp(story.text, wanted) == 0);
    story.text[0] = '\0';
}

static void tell_of_graphs(cudaStream_t stream, void *device, void *host)
{
    cudaGraph_t graph, own;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
    expect_story("9 ");
    CHECK(cudaMemcpyAsync(device, host, 64, cudaMemcpyHostToDevice, stream) == cudaSuccess);
    expect_story("12 13 ");
    CHECK(story.graph_of_node == story.graph);
    CHECK(story.type == CU_GRAPH_NODE_TYPE_MEMCPY);
    CUgraphNode captured = story.node;
    CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph == story.graph);
    CHECK(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
    expect_story("9 12 13 20 17 18 ");
    CHECK(story.original_node == captured);
    CHECK(cudaGraphExecDestroy(exec) == cudaSuccess);
    expect_story("19 10 14 ");
    CHECK(cudaGraphCreate(&own, 0) == cudaSuccess);
    expect_story("9 ");
    CHECK(cudaGraphAddChildGraphNode(&node, own, NULL, 0, graph) == cudaSuccess);
    story.text[0] = '\0';
    CHECK(cudaGraphDestroy(own) == cudaSuccess);
    expect_story("10 14 10 14 ");
    CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    expect_story("10 14 ");
}

static void tell_of_waits(cudaStream_t stream)
{
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    expect_story("s1 s1 ");
    CHECK(cudaStreamSynchronize(0) == cudaSuccess);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess);
    expect_story("");
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    expect_story("s2 ");
}

static void test_resources(void *device, void *host)
{
    CUpti_SubscriberHandle subscriber;
    CUcontext context;
    cudaStream_t stream;
    CHECK(cupti.subscribe(&subscriber, hear_more, NULL) == CUPTI_SUCCESS);
    CHECK(cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE) == CUPTI_SUCCESS);
    CHECK(cupti.enable_domain(1, subscriber, CUPTI_CB_DOMAIN_SYNCHRONIZE) == CUPTI_SUCCESS);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    CHECK(stream == story.stream);
    expect_story("3 ");
    tell_of_graphs(stream, device, host);
    tell_of_waits(stream);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    expect_story("4 ");
    CHECK(cuCtxCreate(&context, NULL, 0, 0) == CUDA_SUCCESS);
    CHECK(cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    expect_story("1 3 ");
    CHECK(cuCtxDestroy(context) == CUDA_SUCCESS);
    expect_story("2 4 ");
    CHECK(story.context == context);
    CHECK(cupti.unsubscribe(subscriber) == CUPTI_SUCCESS);
    CHECK(cudaStreamCreate(&stream) == cudaSuccess);
    expect_story("");
}

#include "selftest_activity.h"

static void test_names(void)
{
    const char *name;
    CHECK(cupti.name(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemFreeHost, &name) ==
          CUPTI_SUCCESS);
    CHECK(strcmp(name, "cuMemFreeHost") == 0);
    CHECK(cupti.name(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
                     &name) == CUPTI_SUCCESS);
    CHECK(strcmp(name, "cuMemcpyDtoHAsync_v2_ptsz") == 0);
    CHECK(cupti.name(CUPTI_CB_DOMAIN_RUNTIME_API,
                     CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000, &name) == CUPTI_SUCCESS);
    CHECK(strcmp(name, "cudaMemcpyAsync_ptsz_v7000") == 0);
    CHECK(cupti.name(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync,
                     &name) == CUPTI_SUCCESS);
    CHECK(strcmp(name, "cuMemcpyHtoDAsync") == 0);
    CHECK(cupti.name(CUPTI_CB_DOMAIN_RUNTIME_API, 0xffff, &name) != CUPTI_SUCCESS);
}

int main(void)
{
    void *device, *host;
    load();
    CHECK(cudaMalloc(&device, 4096) == cudaSuccess);
    CHECK(cudaMallocHost(&host, 4096) == cudaSuccess);
    test_one_subscriber();
    test_one_copy(device, host);
    test_domain(device);
    test_resources(device, host);
    test_names();
    test_activity(device, host);
    puts("ok");
    return 0;
}
