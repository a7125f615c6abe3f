#include "records.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct client us = {.name = 'A', .buffer_bytes = 64 * KB, .limit = -1};
struct client them = {.name = 'B', .buffer_bytes = 64 * KB, .limit = -1};
struct kept kept[KEPT];
_Atomic unsigned kept_count;
uint64_t origin_ns;

uint64_t cupti_now(void)
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
    if (*buffer)
        (*buffer)[c->buffer_bytes - 1] =
            (uint8_t)c->name; /* whose it is, where nothing is written */
}

static void complete(struct client *c, CUcontext context, uint32_t stream_id, uint8_t *buffer,
                     size_t size, size_t valid)
{
    CUpti_Activity *record = NULL, *before = NULL;

    atomic_fetch_add(&c->completed, 1);
    atomic_store(&c->complete_thread, thread_id());
    if (buffer && valid + 8 < size && buffer[size - 1] != (uint8_t)c->name && buffer[size - 1] != 0)
        atomic_fetch_add(&c->foreign, 1);
    if (c->tell)
        say(" (%c: buffer %zu/%zu, context %s, stream %u:", c->name, valid, size,
            !context ? "none" : "given", stream_id);
    while (valid > 0 && cupti.next(buffer, valid, &record) == CUPTI_SUCCESS) {
        if (c->tell && before)
            say(" +%td", (char *)record - (char *)before);
        before = record;
        take(c, record);
    }
    if (c->tell)
        say(")");
    free(buffer);
}

void CUPTIAPI us_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    request(&us, buffer, size, max_records);
}

void CUPTIAPI us_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer, size_t size,
                          size_t valid)
{
    complete(&us, context, stream_id, buffer, size, valid);
}

void CUPTIAPI them_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
    request(&them, buffer, size, max_records);
}

void CUPTIAPI them_complete(CUcontext context, uint32_t stream_id, uint8_t *buffer, size_t size,
                            size_t valid)
{
    complete(&them, context, stream_id, buffer, size, valid);
}

void reset(void)
{
    us.requested = us.refused = us.completed = us.foreign = 0;
    them.requested = them.refused = them.completed = them.foreign = 0;
    us.records = us.incomplete = them.records = them.incomplete = 0;
    kept_count = 0;
}

void tell_client(const struct client *c)
{
    say(" %c: %u records (%u incomplete), buffers %d requested %d refused %d completed%s;", c->name,
        c->records, c->incomplete, c->requested, c->refused, c->completed,
        c->foreign ? ", SOME ARE THE OTHER'S" : "");
}

void start_us(void)
{
    TRY_CUPTI(cupti.reg(us_request, us_complete));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY));
    TRY_CUPTI(cupti.enable(CUPTI_ACTIVITY_KIND_MEMSET));
}

/* ---- callbacks ---- */

bool ear_tells;

static void hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *about)
{
    const CUpti_CallbackData *data = about;

    (void)user, (void)cbid;
    if (ear_tells && data->callbackSite == CUPTI_API_ENTER)
        say(" %s%s#%u", domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "R:" : "", data->functionName,
            data->correlationId);
}

void listen_to_copies(void)
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

/* ---- the world ---- */

CUstream stream2;
unsigned char *pageable;

CUresult set_up(void)
{
    CUresult rc = set_up_with(BIG);

    if (rc != CUDA_SUCCESS)
        return rc;
    pageable = malloc(MB);
    memset(pageable, 1, MB);
    return TRY(cuStreamCreate(&stream2, CU_STREAM_NON_BLOCKING));
}

bool load(void)
{
    if (!load_cupti())
        return false;
#define TELL_MISSING(member, function)                                                             \
    if (!cupti.member)                                                                             \
        say(" {no " #function "}");
    CUPTI_ACTIVITY_CALLS(TELL_MISSING)
#undef TELL_MISSING
    return cupti.reg && cupti.enable && cupti.flush && cupti.next;
}

bool begin(void)
{
    return set_up() == CUDA_SUCCESS && load();
}

/* A host function that keeps its stream busy, and when it ended. */
static unsigned hold_ms;
static _Atomic uint64_t held_from_ns;
_Atomic uint64_t held_until_ns;

static void CUDA_CB hold(void *unused)
{
    (void)unused;
    atomic_store(&held_from_ns, now_ns());
    sleep_ms(hold_ms);
    atomic_store(&held_until_ns, now_ns());
}

void hold_stream(CUstream s, unsigned ms)
{
    hold_ms = ms;
    atomic_store(&held_from_ns, 0);
    TRY(cuLaunchHostFunc(s, hold, NULL));
    while (atomic_load(&held_from_ns) == 0)
        sched_yield();
}

CUresult copy_small(void)
{
    return TRY(cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream));
}

CUresult copy_back(void)
{
    return TRY(cuMemcpyDtoHAsync(pinned, dev, 8 * KB, stream));
}

CUresult set_device(void)
{
    return TRY(cuMemsetD8Async(dev, 1, 4 * KB, stream));
}

void hundred_copies(void)
{
    for (int i = 0; i < 100; i++)
        cuMemcpyHtoDAsync(dev, pinned, 4 * KB, stream);
    TRY(cuStreamSynchronize(stream));
}

void list_threads(void)
{
    DIR *tasks = opendir("/proc/self/task");

    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        char path[300], name[32] = "";
        FILE *file;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "r");
        if (file) {
            if (fgets(name, sizeof name, file))
                name[strcspn(name, "\n")] = '\0';
            fclose(file);
        }
        say(" %s(%ld)", name, atol(entry->d_name) - (long)getpid());
    }
    if (tasks)
        closedir(tasks);
}
