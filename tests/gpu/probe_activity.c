/* probe_activity: asks libcupti what its activity records say, when they come, and what they cost.
 *
 *     gcc -std=gnu11 -O2 -pthread -I/usr/local/cuda/include tests/gpu/probe_activity.c \
 *         -o probe_activity -ldl -lcuda
 *     ./probe_activity            every question, under 60 s
 *     ./probe_activity 2 5        these only
 *
 * PROBE_CUPTI names the libcupti to ask; else libcupti.so.13 is looked for in the usual places.
 * Each question is answered in a child process that does its own cuInit; one that dies or hangs
 * costs its own line. Driver results are numbers, CUPTI results "CUPTI n".
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dirent.h>
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
#define MB (1024UL * KB)
#define BIG (64 * MB)
#define CHILD_LIMIT_S 20

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

static CUptiResult check_cupti(const char *call, CUptiResult rc)
{
    if (rc != CUPTI_SUCCESS)
        say(" {%s=CUPTI %d}", call, (int)rc);
    return rc;
}

#define TRY(call) check(#call, (call))
#define TRY_CUPTI(call) check_cupti(#call, (call))

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L};

    nanosleep(&t, NULL);
}

static double ms_since(uint64_t start_ns)
{
    return (double)(now_ns() - start_ns) / 1e6;
}

static long thread_id(void)
{
    return syscall(SYS_gettid);
}

static void list_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");

    for (struct dirent *entry; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        FILE *file;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "r");
        if (file != NULL) {
            if (fgets(name, sizeof(name), file) != NULL)
                name[strcspn(name, "\n")] = '\0';
            fclose(file);
        }
        say(" %s(%ld)", name, atol(entry->d_name) - (long)getpid());
    }
    if (tasks != NULL)
        closedir(tasks);
}

/* ---- libcupti ---- */

static struct {
    void *library;
    __typeof__(&cuptiSubscribe) subscribe;
    __typeof__(&cuptiUnsubscribe) unsubscribe;
    __typeof__(&cuptiEnableCallback) enable_callback;
    __typeof__(&cuptiActivityRegisterCallbacks) reg;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush;
    __typeof__(&cuptiActivityFlushPeriod) flush_period;
    __typeof__(&cuptiActivityGetNextRecord) next;
    __typeof__(&cuptiActivityGetNumDroppedRecords) dropped;
    __typeof__(&cuptiActivityGetAttribute) get;
    __typeof__(&cuptiActivitySetAttribute) set;
    __typeof__(&cuptiActivityRegisterTimestampCallback) timestamps;
    __typeof__(&cuptiGetTimestamp) timestamp;
    __typeof__(&cuptiGetGraphNodeId) node_id;
    __typeof__(&cuptiFinalize) finalize;
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
#define FIND(member, name)                                                                         \
    if ((*(void **)&cupti.member = dlsym(cupti.library, name)) == NULL)                            \
    say(" {no %s}", name)
    FIND(subscribe, "cuptiSubscribe");
    FIND(unsubscribe, "cuptiUnsubscribe");
    FIND(enable_callback, "cuptiEnableCallback");
    FIND(reg, "cuptiActivityRegisterCallbacks");
    FIND(enable, "cuptiActivityEnable");
    FIND(disable, "cuptiActivityDisable");
    FIND(flush, "cuptiActivityFlushAll");
    FIND(flush_period, "cuptiActivityFlushPeriod");
    FIND(next, "cuptiActivityGetNextRecord");
    FIND(dropped, "cuptiActivityGetNumDroppedRecords");
    FIND(get, "cuptiActivityGetAttribute");
    FIND(set, "cuptiActivitySetAttribute");
    FIND(timestamps, "cuptiActivityRegisterTimestampCallback");
    FIND(timestamp, "cuptiGetTimestamp");
    FIND(node_id, "cuptiGetGraphNodeId");
    FIND(finalize, "cuptiFinalize");
#undef FIND
    return cupti.reg != NULL && cupti.enable != NULL && cupti.flush != NULL && cupti.next != NULL;
}

/* ---- buffers and records ---- */

enum { KEPT = 4096 };

/* One of two clients that register callbacks. What its buffers are and what came back in them. */
struct client {
    char name;
    size_t buffer_bytes;
    int limit; /* buffers given at most; negative: no limit */
    bool zero; /* when out of buffers: a size of 0 instead of NULL */
    _Atomic int requested, refused, completed, foreign;
    _Atomic unsigned records, incomplete;
    _Atomic long request_thread, complete_thread;
    bool tell;
};

static struct client us = {.name = 'A', .buffer_bytes = 64 * KB, .limit = -1};
static struct client them = {.name = 'B', .buffer_bytes = 64 * KB, .limit = -1};
static struct kept {
    uint64_t start, end;
    uint32_t correlation;
    CUpti_ActivityKind kind;
} kept[KEPT];
static _Atomic unsigned kept_count;
static uint64_t origin_ns; /* what times are told from, in CUPTI's clock */

static uint64_t cupti_now(void)
{
    uint64_t t = 0;

    cupti.timestamp(&t);
    return t;
}

static double us_after_origin(uint64_t t)
{
    return ((double)t - (double)origin_ns) / 1e3;
}

static void keep(CUpti_ActivityKind kind, uint32_t correlation, uint64_t start, uint64_t end)
{
    unsigned i = atomic_fetch_add(&kept_count, 1);

    if (i < KEPT)
        kept[i] = (struct kept){start, end, correlation, kind};
}

static void tell_copy(const CUpti_ActivityMemcpy6 *r)
{
    say(" [copy kind %u %u>%u %lu B x%lu corr %u rt %u dev %u ctx %u stream %u graph %u node %lx "
        "flags %x %.1f..%.1f us]",
        r->copyKind, r->srcKind, r->dstKind, (unsigned long)r->bytes, (unsigned long)r->copyCount,
        r->correlationId, r->runtimeCorrelationId, r->deviceId, r->contextId, r->streamId,
        r->graphId, (unsigned long)r->graphNodeId, r->flags, us_after_origin(r->start),
        us_after_origin(r->end));
}

static void tell_memset(const CUpti_ActivityMemset4 *r)
{
    say(" [memset %lu B memory %u corr %u stream %u graph %u node %lx %.1f..%.1f us]",
        (unsigned long)r->bytes, r->memoryKind, r->correlationId, r->streamId, r->graphId,
        (unsigned long)r->graphNodeId, us_after_origin(r->start), us_after_origin(r->end));
}

static void take(struct client *c, const CUpti_Activity *record)
{
    const CUpti_ActivityMemcpy6 *copy = (const void *)record;
    const CUpti_ActivityMemset4 *set = (const void *)record;
    const CUpti_ActivityGraphTrace2 *graph = (const void *)record;
    const CUpti_ActivityKernel9 *kernel = (const void *)record;
    uint64_t start = 0, end = 0;

    atomic_fetch_add(&c->records, 1);
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        start = copy->start, end = copy->end;
        keep(record->kind, copy->correlationId, start, end);
        if (c->tell)
            tell_copy(copy);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        start = set->start, end = set->end;
        keep(record->kind, set->correlationId, start, end);
        if (c->tell)
            tell_memset(set);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
        start = graph->start, end = graph->end;
        keep(record->kind, graph->correlationId, start, end);
        if (c->tell)
            say(" [graph %u corr %u stream %u %.1f..%.1f us]", graph->graphId, graph->correlationId,
                graph->streamId, us_after_origin(start), us_after_origin(end));
    } else if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
               record->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        start = kernel->start, end = kernel->end;
        keep(record->kind, kernel->correlationId, start, end);
        if (c->tell)
            say(" [kernel corr %u stream %u]", kernel->correlationId, kernel->streamId);
    } else {
        if (c->tell)
            say(" [kind %d]", (int)record->kind);
        return;
    }
    if (start == 0 || end == 0)
        atomic_fetch_add(&c->incomplete, 1);
}

static void request(struct client *c, uint8_t **buffer, size_t *size, size_t *max_records)
{
    *max_records = 0;
    atomic_store(&c->request_thread, thread_id());
    if (c->limit >= 0 && atomic_load(&c->requested) >= c->limit) {
        atomic_fetch_add(&c->refused, 1);
        *size = 0;
        *buffer = NULL;
        if (c->zero)
            *buffer = aligned_alloc(8, c->buffer_bytes);
        return;
    }
    atomic_fetch_add(&c->requested, 1);
    *buffer = aligned_alloc(8, c->buffer_bytes);
    *size = c->buffer_bytes;
    if (*buffer != NULL)
        (*buffer)[c->buffer_bytes - 1] =
            (uint8_t)c->name; /* whose it is, where nothing is written */
}

static void complete(struct client *c, CUcontext context, uint32_t stream_id, uint8_t *buffer,
                     size_t size, size_t valid)
{
    CUpti_Activity *record = NULL, *before = NULL;

    atomic_fetch_add(&c->completed, 1);
    atomic_store(&c->complete_thread, thread_id());
    if (buffer != NULL && valid + 8 < size && buffer[size - 1] != (uint8_t)c->name &&
        buffer[size - 1] != 0)
        atomic_fetch_add(&c->foreign, 1);
    if (c->tell)
        say(" (%c: buffer %zu/%zu, context %s, stream %u:", c->name, valid, size,
            context == NULL ? "none" : "given", stream_id);
    while (valid > 0 && cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (c->tell && before != NULL)
            say(" +%td", (char *)record - (char *)before);
        before = record;
        take(c, record);
    }
    if (c->tell)
        say(")");
    free(buffer);
}

static void CUPTIAPI us_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    request(&us, buffer, size, max_records);
}

static void CUPTIAPI us_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer,
                                 size_t size, size_t valid)
{
    complete(&us, context, stream_id, buffer, size, valid);
}

static void CUPTIAPI them_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    request(&them, buffer, size, max_records);
}

static void CUPTIAPI them_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer,
                                   size_t size, size_t valid)
{
    complete(&them, context, stream_id, buffer, size, valid);
}

static void reset(void)
{
    us.requested = us.refused = us.completed = us.foreign = 0;
    them.requested = them.refused = them.completed = them.foreign = 0;
    us.records = us.incomplete = them.records = them.incomplete = 0;
    kept_count = 0;
}

static void tell_client(const struct client *c)
{
    say(" %c: %u records (%u incomplete), buffers %d requested %d refused %d completed%s;", c->name,
        c->records, c->incomplete, c->requested, c->refused, c->completed,
        c->foreign ? ", SOME ARE THE OTHER'S" : "");
}

static void start_us(void)
{
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET));
}

/* ---- callbacks ---- */

static CUpti_SubscriberHandle subscriber;
static bool ear_tells;

static void hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *about)
{
    const CUpti_CallbackData *data = about;

    (void)user, (void)cbid;
    if (ear_tells && data->callbackSite == CUPTI_API_ENTER)
        say(" %s%s#%u", domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "R:" : "", data->functionName,
            data->correlationId);
}

static void listen(void)
{
    static const CUpti_CallbackId ids[] = {
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,  CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,       CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2,    CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    };
    TRY_CUPTI(cupti.subscribe(&subscriber, hear, NULL));
    for (size_t i = 0; i < COUNT(ids); i++)
        cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, ids[i]);
    cupti.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                          CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020);
}

/* ---- the world that questions find ---- */

static CUcontext primary;
static CUfunction empty_kernel;
static CUstream stream, stream2;
static CUdeviceptr dev;
static unsigned char *pinned, *pageable;

static const char empty_ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
                                ".visible .entry empty()\n{\n    ret;\n}\n";

static CUresult set_up(void)
{
    CUdevice device;
    CUmodule module;
    CUresult rc = TRY(cuInit(0));

    if (rc != CUDA_SUCCESS || (rc = TRY(cuDeviceGet(&device, 0))) != CUDA_SUCCESS)
        return rc;
    rc = TRY(cuDevicePrimaryCtxRetain(&primary, device));
    if (rc != CUDA_SUCCESS || (rc = TRY(cuCtxSetCurrent(primary))) != CUDA_SUCCESS)
        return rc;
    if ((rc = TRY(cuModuleLoadData(&module, empty_ptx))) != CUDA_SUCCESS)
        return rc;
    TRY(cuModuleGetFunction(&empty_kernel, module, "empty"));
    TRY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRY(cuStreamCreate(&stream2, CU_STREAM_NON_BLOCKING));
    TRY(cuMemAllocHost((void **)&pinned, BIG));
    pageable = malloc(MB);
    memset(pageable, 1, MB);
    return TRY(cuMemAlloc(&dev, BIG));
}

static bool begin(void)
{
    return set_up() == CUDA_SUCCESS && load();
}

/* A host function that keeps its stream busy, and when it ended. */
static unsigned hold_ms;
static _Atomic uint64_t held_from_ns, held_until_ns;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    atomic_store(&held_from_ns, now_ns());
    sleep_ms(hold_ms);
    atomic_store(&held_until_ns, now_ns());
}

static void hold_stream(CUstream s, unsigned ms)
{
    hold_ms = ms;
    atomic_store(&held_from_ns, 0);
    TRY(cuLaunchHostFunc(s, hold, NULL));
    while (atomic_load(&held_from_ns) == 0)
        sched_yield();
}

/* ---- Q1: which records there are ---- */

static void copy_2d(void)
{
    CUDA_MEMCPY2D shape = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = pinned,
                           .srcPitch = 256,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dev,
                           .dstPitch = 512,
                           .WidthInBytes = 128,
                           .Height = 10};
    TRY(cuMemcpy2DAsync(&shape, stream));
}

static void copy_3d(void)
{
    CUDA_MEMCPY3D shape = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                           .srcHost = pinned,
                           .srcPitch = 256,
                           .srcHeight = 16,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                           .dstDevice = dev,
                           .dstPitch = 512,
                           .dstHeight = 16,
                           .WidthInBytes = 128,
                           .Height = 10,
                           .Depth = 3};
    TRY(cuMemcpy3DAsync(&shape, stream));
}

static void copy_batch(void)
{
    CUdeviceptr to[3] = {dev, dev + 64 * KB, dev + 128 * KB};
    CUdeviceptr from[3] = {(CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)pinned + 64 * KB,
                           (CUdeviceptr)(uintptr_t)pinned + 128 * KB};
    size_t sizes[3] = {1 * KB, 2 * KB, 4 * KB}, index[1] = {0};
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    TRY(cuMemcpyBatchAsync(to, from, sizes, 3, &how, index, 1, stream));
}

static void copy_small(void)
{
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream));
}

static void copy_back(void)
{
    TRY(cuMemcpyDtoHAsync(pinned, dev, 8 * KB, stream));
}

static void copy_pageable(void)
{
    TRY(cuMemcpyHtoDAsync(dev, pageable, 16 * KB, stream));
}

static void copy_pageable_large(void)
{
    TRY(cuMemcpyHtoDAsync(dev, pageable, 512 * KB, stream));
}

static void copy_pageable_back(void)
{
    TRY(cuMemcpyDtoHAsync(pageable, dev, 16 * KB, stream));
}

static void copy_synchronous(void)
{
    TRY(cuMemcpyHtoD(dev, pinned, 32 * KB));
}

static void copy_any(void)
{
    TRY(cuMemcpyAsync(dev, (CUdeviceptr)(uintptr_t)pinned, 4 * KB, stream));
}

static void copy_per_thread(void)
{
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, CU_STREAM_PER_THREAD));
    TRY(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

static void set_device(void)
{
    TRY(cuMemsetD8Async(dev, 1, 4 * KB, stream));
}

static void set_host(void)
{
    TRY(cuMemsetD8Async((CUdeviceptr)(uintptr_t)pinned, 1, 4 * KB, stream));
}

static void host_to_host(void)
{
    TRY(cuMemcpyAsync((CUdeviceptr)(uintptr_t)pinned + MB, (CUdeviceptr)(uintptr_t)pinned, 4 * KB,
                      stream));
}

static void runtime_copy(void)
{
    static cudaError_t (*call)(void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t);
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW);

    if (runtime == NULL)
        runtime = dlopen("/usr/local/cuda/lib64/libcudart.so.13", RTLD_NOW);
    if (runtime == NULL)
        runtime = dlopen("out/cuda/lib/libcudart.so.13", RTLD_NOW);
    if (runtime == NULL) {
        say(" (no runtime)");
        return;
    }
    *(void **)&call = dlsym(runtime, "cudaMemcpyAsync");
    call((void *)(uintptr_t)dev, pinned, 4 * KB, cudaMemcpyHostToDevice, stream);
}

static const struct {
    const char *name;
    void (*make)(void);
} copies[] = {
    {"H2D 4K", copy_small},
    {"D2H 8K", copy_back},
    {"cuMemcpyAsync", copy_any},
    {"2D", copy_2d},
    {"3D", copy_3d},
    {"batch of 3", copy_batch},
    {"pageable 16K", copy_pageable},
    {"pageable 512K", copy_pageable_large},
    {"to pageable 16K", copy_pageable_back},
    {"synchronous 32K", copy_synchronous},
    {"per-thread stream", copy_per_thread},
    {"host to host", host_to_host},
    {"memset", set_device},
    {"memset of pinned", set_host},
    {"cudaMemcpyAsync", runtime_copy},
};

static void each_copy(const char *with)
{
    say("Q1 %s", with);
    end_line();
    us.tell = true;
    for (size_t i = 0; i < COUNT(copies); i++) {
        say("Q1  %s:", copies[i].name);
        origin_ns = cupti_now();
        copies[i].make();
        TRY(cuStreamSynchronize(stream));
        TRY_CUPTI(cupti.flush(0));
        end_line();
    }
    us.tell = false;
}

static void q1(void)
{
    say("Q1 enabling:");
    if (!begin())
        return;
    size_t free_before, free_after, total;
    cuMemGetInfo(&free_before, &total);
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY2};
    for (size_t i = 0; i < COUNT(kinds); i++) {
        uint64_t start = now_ns();
        CUptiResult rc = cupti.enable(kinds[i]);
        say(" kind %d CUPTI %d in %.2f ms,", (int)kinds[i], (int)rc, ms_since(start));
    }
    cuMemGetInfo(&free_after, &total);
    say(" device memory %+ld KB, threads:", ((long)free_before - (long)free_after) / 1024);
    list_threads();
    end_line();
    each_copy("without a subscriber");
    listen();
    ear_tells = true;
    each_copy("with one: the callback's id, then the record's");
    ear_tells = false;
    cuMemGetInfo(&free_after, &total);
    say("Q1 device memory in the end %+ld KB", ((long)free_before - (long)free_after) / 1024);
    end_line();
}

/* ---- Q2: graphs ---- */

static CUgraphExec make_graph(bool tell)
{
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode nodes[8];
    size_t count = COUNT(nodes);

    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    copy_small();
    TRY(cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    copy_back();
    set_device();
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphGetNodes(graph, nodes, &count));
    for (size_t i = 0; tell && i < count; i++) {
        uint64_t id = 0;
        CUptiResult rc = cupti.node_id(nodes[i], &id);
        say(" node %zu is %lx (CUPTI %d)", i, (unsigned long)id, (int)rc);
    }
    TRY(cuGraphInstantiate(&exec, graph, 0));
    return exec;
}

static void launch_twice(CUgraphExec exec)
{
    for (int i = 0; i < 2; i++) {
        origin_ns = cupti_now();
        TRY(cuGraphLaunch(exec, stream));
        TRY(cuStreamSynchronize(stream));
        TRY_CUPTI(cupti.flush(0));
    }
}

static void q2(void)
{
    say("Q2 a graph:");
    if (!begin())
        return;
    CUgraphExec early = make_graph(true);
    listen();
    start_us();
    end_line();
    us.tell = ear_tells = true;
    say("Q2 launches of an exec made before enabling:");
    launch_twice(early);
    end_line();
    say("Q2 launches of an exec made after:");
    CUgraphExec exec = make_graph(true);
    launch_twice(exec);
    end_line();
    say("Q2 with GRAPH_TRACE as well:");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
    launch_twice(exec);
    launch_twice(early);
    exec = make_graph(false);
    launch_twice(exec);
    end_line();
}

/* ---- Q3: what was issued before ---- */

static void q3(void)
{
    say("Q3 a copy issued before enabling, while its stream is held:");
    if (!begin())
        return;
    hold_stream(stream, 200);
    copy_small();
    uint64_t start = now_ns();
    us.tell = true;
    start_us();
    say(" enabling took %.1f ms", ms_since(start));
    start = now_ns();
    copy_back();
    say(", the next copy's call %.1f ms", ms_since(start));
    TRY(cuStreamSynchronize(stream));
    origin_ns = cupti_now();
    TRY_CUPTI(cupti.flush(0));
    end_line();
    say("Q3 enabling during a global capture:");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    CUgraph graph = NULL;
    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    copy_small();
    TRY_CUPTI(cupti.flush(0));
    TRY_CUPTI(cupti.flush(1));
    say(" end of the capture %d", (int)cuStreamEndCapture(stream, &graph));
    end_line();
}

/* Registered and enabled before cuInit, and in a context that comes later, in a capture. */
static void early(void)
{
    say("Q3 enabled before cuInit:");
    if (!load())
        return;
    start_us();
    if (set_up() != CUDA_SUCCESS)
        return;
    us.tell = true;
    origin_ns = cupti_now();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    TRY_CUPTI(cupti.flush(0));
    end_line();
}

/* ---- Q4: clocks ---- */

static _Atomic unsigned clock_calls;
static _Atomic bool clock_elsewhere;
static long clock_caller;

static uint64_t CUPTIAPI monotonic(void)
{
    atomic_fetch_add(&clock_calls, 1);
    if (thread_id() != clock_caller)
        atomic_store(&clock_elsewhere, true);
    return now_ns();
}

static void clocks(void)
{
    int64_t least_real = INT64_MAX, least_mono = INT64_MAX, least_raw = INT64_MAX;

    for (int i = 0; i < 1000; i++) {
        int64_t real = (int64_t)(clock_ns(CLOCK_REALTIME) - cupti_now());
        int64_t mono = (int64_t)(clock_ns(CLOCK_MONOTONIC) - cupti_now());
        int64_t raw = (int64_t)(clock_ns(CLOCK_MONOTONIC_RAW) - cupti_now());
        if (llabs(real) < llabs(least_real))
            least_real = real;
        if (llabs(mono) < llabs(least_mono))
            least_mono = mono;
        if (llabs(raw) < llabs(least_raw))
            least_raw = raw;
    }
    say(" cuptiGetTimestamp: REALTIME %+.3f ms, MONOTONIC %+.3f ms, MONOTONIC_RAW %+.3f ms",
        -(double)least_real / 1e6, -(double)least_mono / 1e6, -(double)least_raw / 1e6);
    uint64_t start = now_ns();
    for (int i = 0; i < 1000; i++)
        cupti_now();
    say(", takes %.0f ns", ms_since(start) * 1e3);
}

/* Held for 30 ms, then 64 MB: the record must begin when the host function ended, and end before
 * the synchronise does. */
static void held_copy(const char *name, bool is_monotonic)
{
    kept_count = 0;
    hold_stream(stream, 30);
    TRY(cuMemcpyHtoDAsync(dev, pinned, BIG, stream));
    TRY(cuStreamSynchronize(stream));
    uint64_t synced = now_ns();
    int64_t skew = is_monotonic ? 0 : (int64_t)(cupti_now() - now_ns());
    TRY_CUPTI(cupti.flush(0));
    if (kept_count == 0) {
        say(" %s: no record", name);
        return;
    }
    say(" %s: starts %.1f us after the hold, ends %.1f us before the synchronise, lasts %.1f us;",
        name, (double)((int64_t)(kept[0].start - held_until_ns) - skew) / 1e3,
        (double)((int64_t)(synced - kept[0].end) + skew) / 1e3,
        (double)(kept[0].end - kept[0].start) / 1e3);
}

static void q4(void)
{
    say("Q4");
    if (!begin())
        return;
    clocks();
    start_us();
    held_copy("default clock", false);
    held_copy("again", false);
    clock_caller = thread_id();
    say(" timestamp callback while enabled CUPTI %d", (int)cupti.timestamps(monotonic));
    held_copy("then", true);
    sleep_ms(2000);
    held_copy("2 s later", true);
    say(" called %u times, elsewhere: %d", clock_calls, (int)clock_elsewhere);
    end_line();
}

static void early_clock(void)
{
    say("Q4 timestamp callback before anything:");
    if (!load())
        return;
    clock_caller = thread_id();
    say(" CUPTI %d", (int)cupti.timestamps(monotonic));
    start_us();
    if (set_up() != CUDA_SUCCESS)
        return;
    say(", cuptiGetTimestamp %+.3f ms from MONOTONIC",
        (double)(int64_t)(cupti_now() - now_ns()) / 1e6);
    held_copy("monotonic", true);
    held_copy("again", true);
    unsigned before = clock_calls;
    for (int i = 0; i < 100; i++)
        copy_small();
    say(" 100 copies call it %u times, elsewhere: %d", clock_calls - before, (int)clock_elsewhere);
    end_line();
}

/* ---- Q5: when buffers come ---- */

static void hundred_copies(void)
{
    for (int i = 0; i < 100; i++)
        cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
    TRY(cuStreamSynchronize(stream));
}

static void *copy_elsewhere(void *unused)
{
    (void)unused;
    TRY(cuCtxSetCurrent(primary));
    copy_small();
    TRY(cuStreamSynchronize(stream));
    say(" (its request on itself: %s)", us.request_thread == thread_id() ? "yes" : "no");
    return NULL;
}

static void q5(void)
{
    say("Q5 buffers of 8 KB:");
    if (!begin())
        return;
    us.buffer_bytes = 8 * KB;
    us.request_thread = 0;
    start_us();
    tell_client(&us);
    copy_small();
    say(" after one copy:");
    tell_client(&us);
    say(" requested on the caller: %s", us.request_thread == thread_id() ? "yes" : "no");
    hundred_copies();
    say(", after 100 copies and a synchronise:");
    tell_client(&us);
    sleep_ms(300);
    say(" 300 ms later:");
    tell_client(&us);
    say(" completed on the caller: %s", us.complete_thread == thread_id() ? "yes" : "no");
    TRY_CUPTI(cupti.flush(0));
    say(", after flush(0):");
    tell_client(&us);
    say(" completed on the caller: %s", us.complete_thread == thread_id() ? "yes" : "no");
    end_line();
    say("Q5 copies from another thread:");
    pthread_t thread;
    if (pthread_create(&thread, NULL, copy_elsewhere, NULL) == 0)
        pthread_join(thread, NULL);
    tell_client(&us);
    TRY_CUPTI(cupti.flush(0));
    say(" flush(0) here:");
    tell_client(&us);
    end_line();
    say("Q5 a flush period of 10 ms:");
    reset();
    CUptiResult rc = cupti.flush_period(10);
    copy_small();
    TRY(cuStreamSynchronize(stream));
    sleep_ms(200);
    say(" CUPTI %d", (int)rc);
    tell_client(&us);
    say(" completed on the caller: %s, threads:", us.complete_thread == thread_id() ? "yes" : "no");
    list_threads();
    end_line();
}

/* How long behind its completion a record is there. */
static void lag(void)
{
    double worst_us = 0, sum_us = 0;
    unsigned flushes = 0, missing = 0;

    say("Q5 lag of a record behind a completed copy:");
    if (!begin())
        return;
    start_us();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    TRY_CUPTI(cupti.flush(0));
    for (int i = 0; i < 200; i++) {
        kept_count = 0;
        copy_small();
        while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY)
            ;
        uint64_t done = now_ns();
        while (kept_count == 0 && now_ns() - done < 50 * 1000000U) {
            cupti.flush(0);
            flushes++;
        }
        double took = (double)(now_ns() - done) / 1e3;
        missing += kept_count == 0;
        sum_us += took;
        worst_us = took > worst_us ? took : worst_us;
    }
    say(" mean %.1f us, worst %.1f us, %.2f flushes each, never %u of 200", sum_us / 200, worst_us,
        flushes / 200.0, missing);
    uint64_t start = now_ns();
    for (int i = 0; i < 100; i++)
        cupti.flush(0);
    say("; an idle flush(0) takes %.1f us", ms_since(start) * 10);
    end_line();
}

/* ---- Q6: flushing while work is held ---- */

static _Atomic bool in_wait;

static void *wait_elsewhere(void *unused)
{
    (void)unused;
    TRY(cuCtxSetCurrent(primary));
    atomic_store(&in_wait, true);
    TRY(cuStreamSynchronize(stream));
    return NULL;
}

static void *free_elsewhere(void *what)
{
    TRY(cuCtxSetCurrent(primary));
    atomic_store(&in_wait, true);
    TRY(cuMemFreeHost(what));
    return NULL;
}

static void flush_timed(const char *name, uint32_t flag)
{
    uint64_t start = now_ns();
    CUptiResult rc = cupti.flush(flag);

    say(" %s CUPTI %d in %.3f ms:", name, (int)rc, ms_since(start));
    tell_client(&us);
}

static void q6(void)
{
    pthread_t thread;
    void *other = NULL;

    say("Q6 a stream is held for 300 ms, a copy behind it, one in another stream is done:");
    if (!begin())
        return;
    TRY(cuMemAllocHost(&other, 4 * KB));
    start_us();
    hold_stream(stream, 300);
    copy_small();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
    TRY(cuStreamSynchronize(stream2));
    flush_timed("flush(0)", 0);
    flush_timed("again", 0);
    if (pthread_create(&thread, NULL, wait_elsewhere, NULL) == 0) {
        while (!atomic_load(&in_wait))
            sched_yield();
        sleep_ms(5);
        flush_timed("with a thread in cuStreamSynchronize", 0);
        pthread_join(thread, NULL);
    }
    flush_timed("after the hold", 0);
    end_line();
    say("Q6 a copy 2 is issued first, then 1 behind the hold: is the complete one behind it "
        "there?");
    reset();
    hold_stream(stream, 100);
    copy_small();
    TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
    TRY(cuStreamSynchronize(stream2));
    flush_timed("flush(0)", 0);
    flush_timed("flush(1)", 1);
    TRY(cuStreamSynchronize(stream));
    flush_timed("and when it is done flush(0)", 0);
    flush_timed("flush(1)", 1);
    end_line();
    say("Q6 a thread is in cuMemFreeHost, which waits:");
    reset();
    atomic_store(&in_wait, false);
    hold_stream(stream, 200);
    copy_small();
    if (pthread_create(&thread, NULL, free_elsewhere, other) == 0) {
        while (!atomic_load(&in_wait))
            sched_yield();
        sleep_ms(20);
        flush_timed("flush(0)", 0);
        uint64_t start = now_ns();
        CUresult rc = cuStreamQuery(stream2);
        say(" a stream query beside it %d in %.3f ms", (int)rc, ms_since(start));
        pthread_join(thread, NULL);
    }
    end_line();
}

/* What other threads' calls take while one waits in cuMemFreeHost, and a flush with it. */
static _Atomic bool flush_ends;

static void *flush_once(void *unused)
{
    (void)unused;
    cupti.flush(0);
    atomic_store(&flush_ends, true);
    return NULL;
}

static void time_call(const char *name, CUresult rc, uint64_t start_ns)
{
    say(" %s %d in %.3f ms,", name, (int)rc, ms_since(start_ns));
}

static void calls_beside(bool with_flush)
{
    pthread_t freeing, flushing_thread;
    void *other = NULL;
    CUevent event;

    say("Q6 a thread waits in cuMemFreeHost%s:", with_flush ? ", another in flush(0)" : "");
    if (!begin())
        return;
    TRY(cuMemAllocHost(&other, 4 * KB));
    TRY(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    start_us();
    copy_small();
    TRY(cuStreamSynchronize(stream));
    hold_stream(stream, 200);
    copy_small();
    if (pthread_create(&freeing, NULL, free_elsewhere, other) != 0)
        return;
    sleep_ms(20);
    if (with_flush && pthread_create(&flushing_thread, NULL, flush_once, NULL) != 0)
        return;
    sleep_ms(5);
    say(" flush has ended: %d,", (int)flush_ends);
#define TIME(call)                                                                                 \
    do {                                                                                           \
        uint64_t start_ns = now_ns();                                                              \
        CUresult rc = call;                                                                        \
        time_call(#call, rc, start_ns);                                                            \
    } while (0)
    TIME(cuStreamQuery(stream2));
    TIME(cuEventQuery(event));
    TIME(cuEventRecord(event, stream2));
    TIME(cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream2, NULL, NULL));
    TIME(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream2));
#undef TIME
    pthread_join(freeing, NULL);
    if (with_flush)
        pthread_join(flushing_thread, NULL);
    end_line();
}

static void calls_beside_free(void)
{
    calls_beside(false);
}

static void calls_beside_flush(void)
{
    calls_beside(true);
}

/* A flush on a thread of its own, all the time: what it costs who issues. */
static _Atomic bool flushing;

static void *flush_always(void *unused)
{
    (void)unused;
    while (atomic_load(&flushing))
        cupti.flush(0);
    return NULL;
}

static double copies_ns(void)
{
    double best = 1e12;

    for (int round = 0; round < 40; round++) {
        uint64_t start = now_ns();
        for (int i = 0; i < 300; i++)
            cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
        double took = (double)(now_ns() - start) / 300;
        TRY(cuStreamSynchronize(stream));
        best = took < best ? took : best;
    }
    return best;
}

static void flush_beside(void)
{
    pthread_t thread;

    say("Q6 a 4 KB copy takes");
    if (!begin())
        return;
    start_us();
    say(" %.0f ns", copies_ns());
    atomic_store(&flushing, true);
    if (pthread_create(&thread, NULL, flush_always, NULL) != 0)
        return;
    say(", %.0f while another thread flushes without a pause", copies_ns());
    atomic_store(&flushing, false);
    pthread_join(thread, NULL);
    end_line();
}

/* ---- Q7: dropped records ---- */

static void dropped_when(const char *name, int limit, size_t bytes, bool zero)
{
    size_t dropped = 0;

    reset();
    us.limit = limit;
    us.zero = zero;
    us.buffer_bytes = bytes;
    hundred_copies();
    TRY_CUPTI(cupti.flush(0));
    CUptiResult rc = cupti.dropped(NULL, 0, &dropped);
    size_t of_context = 0;
    CUptiResult rc2 = cupti.dropped(primary, 0, &of_context);
    say(" %s:", name);
    tell_client(&us);
    say(" dropped %zu (CUPTI %d), of the context %zu (CUPTI %d)", dropped, (int)rc, of_context,
        (int)rc2);
}

static void q7(void)
{
    say("Q7 100 copies,");
    if (!begin())
        return;
    us.buffer_bytes = 1 * KB;
    us.limit = 0;
    start_us();
    dropped_when("no buffer at all", 0, 1 * KB, false);
    dropped_when("2 buffers of 1 KB", 2, 1 * KB, false);
    end_line();
    say("Q7");
    dropped_when("then size 0 instead of NULL", 2, 1 * KB, true);
    dropped_when("a buffer of 64 bytes", 2, 64, false);
    dropped_when("enough again", -1, 8 * KB, false);
    end_line();
}

/* ---- Q8: another client ---- */

static void both(const char *name)
{
    hundred_copies();
    TRY_CUPTI(cupti.flush(1));
    say(" %s:", name);
    tell_client(&us);
    tell_client(&them);
    reset();
}

static void q8(void)
{
    say("Q8 they come while ours is on:");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    start_us();
    hundred_copies();
    say(" their register CUPTI %d", (int)cupti.reg(them_request, them_complete));
    say(" enable CUPTI %d;", (int)cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("both on, 200 copies");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("one disable");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    both("enabled again");
    end_line();
}

static void yields(bool by_flush)
{
    say("Q8 we disable%s, then they come:", by_flush ? " and flush(1)" : "");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    start_us();
    hundred_copies();
    hold_stream(stream, 100);
    copy_small(); /* in flight while we leave */
    uint64_t start = now_ns();
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMSET));
    if (by_flush)
        TRY_CUPTI(cupti.flush(1));
    say(" in %.3f ms;", ms_since(start));
    tell_client(&us);
    say(" their register CUPTI %d,", (int)cupti.reg(them_request, them_complete));
    say(" enable CUPTI %d;", (int)cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY(cuStreamSynchronize(stream));
    both("their 100 copies");
    both("and 100 more");
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    end_line();
}

static void yields_plainly(void)
{
    yields(false);
}

static void yields_flushing(void)
{
    yields(true);
}

static void comes_second(void)
{
    say("Q8 they are there first; we register and enable beside them:");
    if (!begin())
        return;
    us.buffer_bytes = them.buffer_bytes = 16 * KB;
    TRY_CUPTI(cupti.reg(them_request, them_complete));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    hundred_copies();
    say(" our register CUPTI %d;", (int)cupti.reg(us_request, us_complete));
    both("100 of theirs, 100 more");
    both("100 more");
    end_line();
}

/* ---- Q9: fork and exit ---- */

static void child_of_fork(void)
{
    alarm(5);
    reset();
    say(" child:");
    list_threads();
    uint64_t start = now_ns();
    CUptiResult rc = cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY);
    say(", disable CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    tell_client(&us);
    start = now_ns();
    rc = cupti.flush(0);
    say(", flush CUPTI %d in %.1f ms", (int)rc, ms_since(start));
    tell_client(&us);
    end_line();
}

static void fork_question(void)
{
    int status = 0;

    say("Q9 fork with records pending, _exit in the child:");
    if (!begin())
        return;
    start_us();
    hundred_copies();
    for (int way = 0; way < 3; way++) {
        pid_t child = fork();
        if (child == 0) {
            if (way == 0)
                _exit(0);
            if (way == 2) {
                child_of_fork();
                _exit(0);
            }
            us.tell = true;
            reset();
            exit(0);
        }
        waitpid(child, &status, 0);
        say("Q9 child (%s) ended with %d of signal %d",
            way == 0   ? "_exit"
            : way == 1 ? "exit"
                       : "disables and flushes",
            WEXITSTATUS(status), WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        end_line();
    }
    TRY_CUPTI(cupti.flush(0));
    say("Q9 the parent has");
    tell_client(&us);
    end_line();
}

static void at_exit_say(void)
{
    say(" in atexit:");
    tell_client(&us);
    uint64_t start = now_ns();
    CUptiResult rc = cupti.flush(0);
    say(" flush(0) CUPTI %d in %.1f ms:", (int)rc, ms_since(start));
    tell_client(&us);
    end_line();
}

static _Atomic bool late_calls;

static __attribute__((destructor)) void in_destructor(void)
{
    if (!atomic_load(&late_calls))
        return;
    say("Q9 in a destructor:");
    tell_client(&us);
    CUptiResult rc = cupti.flush(1);
    say(" flush(1) CUPTI %d:", (int)rc);
    tell_client(&us);
    end_line();
}

static void exit_with(bool flushes)
{
    say("Q9 exit with a record pending%s:", flushes ? "" : ", nobody flushes");
    if (!begin())
        return;
    start_us();
    hundred_copies();
    if (flushes) {
        atexit(at_exit_say);
        atomic_store(&late_calls, true);
    }
    us.tell = !flushes;
    reset();
    exit(0);
}

static void exit_flushing(void)
{
    exit_with(true);
}

static void exit_plainly(void)
{
    exit_with(false);
}

/* ---- Q10: what it costs ---- */

static double launches_ns(void)
{
    double best = 1e12;

    for (int round = 0; round < 40; round++) {
        uint64_t start = now_ns();
        for (int i = 0; i < 300; i++)
            cuLaunchKernel(empty_kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
        double took = (double)(now_ns() - start) / 300;
        TRY(cuStreamSynchronize(stream));
        best = took < best ? took : best;
    }
    return best;
}

static CUgraphExec graph_10;

static double graph_launches_us(void)
{
    double best = 1e12;

    for (int round = 0; round < 20; round++) {
        uint64_t start = now_ns();
        for (int i = 0; i < 20; i++)
            cuGraphLaunch(graph_10, stream);
        double took = (double)(now_ns() - start) / 20e3;
        TRY(cuStreamSynchronize(stream));
        best = took < best ? took : best;
    }
    return best;
}

/* From issue to a synchronise that returns. */
static double round_trip_us(void)
{
    double best = 1e12;

    for (int round = 0; round < 300; round++) {
        uint64_t start = now_ns();
        cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
        cuStreamSynchronize(stream);
        double took = (double)(now_ns() - start) / 1e3;
        best = took < best ? took : best;
    }
    return best;
}

/* 64 MB each way at once: do they still overlap? */
static double both_ways_ms(void)
{
    double best = 1e12;

    for (int round = 0; round < 5; round++) {
        uint64_t start = now_ns();
        cuMemcpyHtoDAsync(dev, pinned, BIG / 2, stream);
        cuMemcpyDtoHAsync(pinned + BIG / 2, dev + BIG / 2, BIG / 2, stream2);
        cuStreamSynchronize(stream);
        cuStreamSynchronize(stream2);
        double took = ms_since(start);
        best = took < best ? took : best;
    }
    return best;
}

static void measure(const char *name)
{
    say("Q10 %s: copy %.0f ns,", name, copies_ns());
    say(" launch %.0f ns, graph of 10 copies %.2f us, copy and synchronise %.2f us,", launches_ns(),
        graph_launches_us(), round_trip_us());
    say(" both ways %.3f ms", both_ways_ms());
    if (cupti.flush != NULL)
        cupti.flush(0);
    end_line();
}

static void capture_10(void)
{
    CUgraph graph = NULL;

    TRY(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    for (int i = 0; i < 10; i++)
        TRY(cuMemcpyHtoDAsync(dev + (size_t)i * 4 * KB, pinned + (size_t)i * 4 * KB, 4 * KB,
                              stream));
    TRY(cuStreamEndCapture(stream, &graph));
    TRY(cuGraphInstantiate(&graph_10, graph, 0));
}

static void cost(int per_thread)
{
    uint8_t way = (uint8_t)per_thread;
    size_t size = sizeof(way);

    if (set_up() != CUDA_SUCCESS)
        return;
    capture_10();
    if (per_thread == 1)
        measure("no libcupti");
    if (!load())
        return;
    us.buffer_bytes = MB;
    TRY_CUPTI(cupti.set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &way));
    if (per_thread == 1)
        measure("loaded");
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    if (per_thread == 1)
        measure("registered");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    measure("+ MEMCPY");
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET));
    measure("+ MEMSET");
    listen();
    measure("+ a subscriber with callbacks of copies");
    if (per_thread == 1) {
        TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
        measure("+ CONCURRENT_KERNEL");
        TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    }
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMSET));
    TRY_CUPTI(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY));
    measure("all disabled, still subscribed");
    TRY_CUPTI(cupti.unsubscribe(subscriber));
    measure("unsubscribed");
    if (per_thread == 1) {
        TRY_CUPTI(cupti.finalize());
        measure("finalized");
    }
    say("Q10 buffers:");
    tell_client(&us);
    end_line();
}

static void q10(void)
{
    cost(1);
}

static void q10_shared(void)
{
    say("Q10 one buffer for all threads");
    end_line();
    cost(0);
}

/* ---- Q11: attributes ---- */

static void q11(void)
{
    say("Q11 attributes:");
    if (!load())
        return;
    for (int i = 0; i <= 10; i++) {
        uint64_t value = 0;
        size_t size = sizeof(value);
        CUptiResult rc = cupti.get((CUpti_ActivityAttribute)i, &size, &value);
        if (rc == CUPTI_SUCCESS)
            say(" %d: %lu (%zu B)", i, (unsigned long)value, size);
        else
            say(" %d: CUPTI %d", i, (int)rc);
    }
    end_line();
}

/* ---- the list, and the processes that work through it ---- */

static const struct question {
    int number;
    void (*ask)(void);
} questions[] = {
    {1, q1},
    {2, q2},
    {3, q3},
    {3, early},
    {4, q4},
    {4, early_clock},
    {5, q5},
    {5, lag},
    {6, q6},
    {6, flush_beside},
    {6, calls_beside_free},
    {6, calls_beside_flush},
    {7, q7},
    {8, q8},
    {8, yields_plainly},
    {8, yields_flushing},
    {8, comes_second},
    {9, fork_question},
    {9, exit_flushing},
    {9, exit_plainly},
    {10, q10},
    {10, q10_shared},
    {11, q11},
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
        q->ask();
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
        perror("probe_activity: mmap");
        return 1;
    }
    midway = shared;
    for (size_t i = 0; i < COUNT(questions); i++)
        if (is_wanted(&questions[i], argc, argv))
            ask(&questions[i]);
    puts("probe_activity done");
    return 0;
}
