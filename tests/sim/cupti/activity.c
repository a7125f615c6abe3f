/*
 * Activity records of copies and memsets, as libcupti 13.0.1 was measured to deliver them.
 *
 * A record is made when the driver call that issued the operation returns, in a buffer of the
 * calling thread's own, which is asked for on that thread; its times are filled in when the device
 * has carried it out. Buffers come back in a flush only, full or not, on a thread of the library:
 * cuptiActivityFlushAll(0) returns those without an incomplete record, (1) all of them, and what
 * was incomplete then is never told again. Kinds are on or off for the whole process, and who
 * registers callbacks takes over the buffers of who was there before.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include <cupti.h>
#pragma GCC visibility pop

#include "../cuda/sim_hooks.h"
#include "cupti_sim.h"

#define MAX_KIND 64

struct buffer {
    struct buffer *next;
    pthread_t owner;
    uint8_t *memory;
    size_t size, used, most, count;
    unsigned incomplete;
    int is_full;
};

struct record {
    struct record *next; /* of the thread's, while the call that issued it runs */
    struct sim_activity what;
    uint32_t correlation_id;
    struct buffer *buffer; /* NULL: not in one, or not in one any more */
    size_t at;             /* where in it */
    int is_placed, is_done;
    uint64_t start_ns, end_ns;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all below but the atomics */
static struct buffer *buffers;
static size_t dropped;
static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static pid_t process;
static _Atomic unsigned char kinds[MAX_KIND];

static __thread struct record *issued_by_call;

static int is_on(CUpti_ActivityKind kind)
{
    return atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

static int is_memset(const struct record *record)
{
    return record->what.is_memset;
}

static CUpti_ActivityKind kind_of(const struct sim_activity *what)
{
    return what->is_memset ? CUPTI_ACTIVITY_KIND_MEMSET : CUPTI_ACTIVITY_KIND_MEMCPY;
}

static size_t size_of(const struct record *record)
{
    return is_memset(record) ? sizeof(CUpti_ActivityMemset4) : sizeof(CUpti_ActivityMemcpy6);
}

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CUPTI's clock is CLOCK_REALTIME. Of several looks at both the one counts that took least. */
static uint64_t cupti_time(uint64_t monotonic_ns)
{
    uint64_t least = UINT64_MAX, ahead = 0;
    for (int i = 0; i < 16 && least > 500; i++) {
        uint64_t before = read_clock(CLOCK_MONOTONIC);
        uint64_t real = read_clock(CLOCK_REALTIME);
        uint64_t took = read_clock(CLOCK_MONOTONIC) - before;
        if (took < least) {
            least = took;
            ahead = real - before - took / 2;
        }
    }
    return monotonic_ns + ahead;
}

/* ---- what the device tells ---- */

static void *issued(const struct sim_activity *what)
{
    struct record *record = is_on(kind_of(what)) ? calloc(1, sizeof *record) : NULL;
    if (record) {
        record->what = *what;
        record->correlation_id = cupti_sim_correlation_id();
        record->next = issued_by_call;
        issued_by_call = record;
    }
    return record;
}

static void write_times_locked(const struct record *record)
{
    uint8_t *at = record->buffer->memory + record->at;
    uint64_t start = cupti_time(record->start_ns), end = cupti_time(record->end_ns);
    if (is_memset(record)) {
        ((CUpti_ActivityMemset4 *)(void *)at)->start = start;
        ((CUpti_ActivityMemset4 *)(void *)at)->end = end;
    } else {
        ((CUpti_ActivityMemcpy6 *)(void *)at)->start = start;
        ((CUpti_ActivityMemcpy6 *)(void *)at)->end = end;
    }
    record->buffer->incomplete--;
}

static struct record *all_placed; /* incomplete ones that are in a buffer, by next */

static void forget_placed_locked(const struct record *record)
{
    struct record **link = &all_placed;
    while (*link != record)
        link = &(*link)->next;
    *link = record->next;
}

/* A record belongs to the call until that has placed it, then to the device. */
static void done(void *kept, uint64_t start_ns, uint64_t end_ns)
{
    struct record *record = kept;
    pthread_mutex_lock(&lock);
    record->start_ns = start_ns;
    record->end_ns = end_ns;
    record->is_done = 1;
    int is_placed = record->is_placed;
    if (is_placed && record->buffer) {
        write_times_locked(record);
        forget_placed_locked(record);
    }
    pthread_mutex_unlock(&lock);
    if (is_placed)
        free(record);
}

static void managed(const struct sim_managed *what);

static const struct sim_activity_hooks device_hooks = {issued, done, managed};

/* ---- buffers ---- */

static struct buffer *open_buffer_locked(size_t size)
{
    for (struct buffer *b = buffers; b; b = b->next) {
        if (pthread_equal(b->owner, pthread_self()) && !b->is_full) {
            b->is_full = b->used + size > b->size || (b->most && b->count == b->most);
            return b->is_full ? NULL : b;
        }
    }
    return NULL;
}

/* Asks the tool, without the lock. */
static struct buffer *new_buffer(CUpti_BuffersCallbackRequestFunc from)
{
    struct buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer || !from) {
        free(buffer);
        return NULL;
    }
    from(&buffer->memory, &buffer->size, &buffer->most);
    if (!buffer->memory || buffer->size < sizeof(CUpti_ActivityMemcpy6)) {
        free(buffer);
        return NULL;
    }
    memset(buffer->memory, 0, buffer->size);
    buffer->owner = pthread_self();
    return buffer;
}

static void write_record_locked(struct record *record, struct buffer *buffer)
{
    uint8_t *at = buffer->memory + buffer->used;
    const struct sim_activity *what = &record->what;
    if (is_memset(record)) {
        *(CUpti_ActivityMemset4 *)(void *)at =
            (CUpti_ActivityMemset4){.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                                    .bytes = what->bytes,
                                    .deviceId = (uint32_t)what->device,
                                    .contextId = (uint32_t)what->context_id,
                                    .streamId = (uint32_t)what->stream_id,
                                    .correlationId = record->correlation_id};
    } else {
        *(CUpti_ActivityMemcpy6 *)(void *)at =
            (CUpti_ActivityMemcpy6){.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                    .bytes = what->bytes,
                                    .deviceId = (uint32_t)what->device,
                                    .contextId = (uint32_t)what->context_id,
                                    .streamId = (uint32_t)what->stream_id,
                                    .correlationId = record->correlation_id,
                                    .copyCount = 1};
    }
    record->buffer = buffer;
    record->at = buffer->used;
    buffer->used += size_of(record);
    buffer->count++;
    buffer->incomplete++;
}

/* Whether the record can be freed. */
static int settle_locked(struct record *record, struct buffer *buffer)
{
    record->is_placed = 1;
    if (!buffer) {
        dropped++;
        return record->is_done;
    }
    write_record_locked(record, buffer);
    if (record->is_done) {
        write_times_locked(record);
        return 1;
    }
    record->next = all_placed;
    all_placed = record;
    return 0;
}

static void place(struct record *record)
{
    pthread_mutex_lock(&lock);
    struct buffer *buffer = open_buffer_locked(size_of(record));
    CUpti_BuffersCallbackRequestFunc from = request;
    if (!buffer) {
        pthread_mutex_unlock(&lock);
        buffer = new_buffer(from);
        pthread_mutex_lock(&lock);
        if (buffer) {
            buffer->next = buffers;
            buffers = buffer;
        }
    }
    int is_finished = settle_locked(record, buffer);
    pthread_mutex_unlock(&lock);
    if (is_finished)
        free(record);
}

void cupti_sim_call_ended(void)
{
    struct record *first = NULL;
    while (issued_by_call) { /* the order of their issue */
        struct record *record = issued_by_call;
        issued_by_call = record->next;
        record->next = first;
        first = record;
    }
    while (first) {
        struct record *record = first;
        first = record->next;
        place(record);
    }
}

/* ---- managed memory ---- */

static int counts_managed; /* cuptiActivityConfigureUnifiedMemoryCounter was called */

static CUpti_ActivityUnifiedMemoryCounter3 describe_managed(const struct sim_managed *what)
{
    uint64_t now = cupti_time(read_clock(CLOCK_MONOTONIC));
    return (CUpti_ActivityUnifiedMemoryCounter3){
        .kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
        .counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)what->kind,
        .value = what->value,
        .start = now,
        .end = now,
        .address = what->address,
        .srcId = (uint32_t)what->from,
        .dstId = (uint32_t)what->to,
        .processId = (uint32_t)getpid(),
        .flags = what->is_eviction ? CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION : 0};
}

/* On the device's thread, as if it were one of CUPTI's: the record is complete at once. */
static void managed(const struct sim_managed *what)
{
    const CUpti_ActivityUnifiedMemoryCounter3 record = describe_managed(what);
    if (!is_on(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
        return;
    pthread_mutex_lock(&lock);
    struct buffer *buffer = open_buffer_locked(sizeof record);
    CUpti_BuffersCallbackRequestFunc from = request;
    if (!buffer) {
        pthread_mutex_unlock(&lock);
        buffer = new_buffer(from);
        pthread_mutex_lock(&lock);
    }
    if (buffer && buffer->used == 0) {
        buffer->next = buffers;
        buffers = buffer;
    }
    if (buffer) {
        memcpy(buffer->memory + buffer->used, &record, sizeof record);
        buffer->used += sizeof record;
        buffer->count++;
    } else {
        dropped++;
    }
    pthread_mutex_unlock(&lock);
}

CUptiResult
cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
                                           uint32_t count)
{
    if (!config || count == 0)
        return CUPTI_ERROR_INVALID_PARAMETER;
    if (cupti_sim_is_asked_to_be("uncounted"))
        return CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED;
    counts_managed = 1;
    return CUPTI_SUCCESS;
}

/* ---- what a tool calls ---- */

static struct buffer *take_locked(int forced)
{
    struct buffer *taken = NULL;
    for (struct buffer **link = &buffers; *link;) {
        struct buffer *b = *link;
        if (b->incomplete && !forced) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        b->next = taken;
        taken = b;
    }
    for (struct record **link = &all_placed; *link;) {
        struct record *record = *link;
        int is_gone = 0;
        for (struct buffer *b = taken; b; b = b->next)
            is_gone |= b == record->buffer;
        if (is_gone) {
            *link = record->next;
            record->buffer = NULL;
        } else {
            link = &record->next;
        }
    }
    return taken;
}

struct delivery {
    struct buffer *first;
    CUpti_BuffersCallbackCompleteFunc to;
};

static void *deliver(void *what)
{
    const struct delivery *delivery = what;
    for (struct buffer *b = delivery->first, *next; b; b = next) {
        next = b->next;
        if (delivery->to)
            delivery->to(NULL, 0, b->memory, b->size, b->used);
        free(b);
    }
    return NULL;
}

/* In a forked child the real one waits for ever. */
CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    pthread_t worker;
    while (process && process != getpid())
        pause();
    pthread_mutex_lock(&lock);
    struct delivery delivery = {take_locked((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0),
                                complete};
    pthread_mutex_unlock(&lock);
    if (delivery.first && pthread_create(&worker, NULL, deliver, &delivery) == 0)
        pthread_join(worker, NULL);
    return delivery.to ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed)
{
    if (!requested || !completed)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    request = requested;
    complete = completed;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

static int is_any_on(void)
{
    return is_on(CUPTI_ACTIVITY_KIND_MEMCPY) || is_on(CUPTI_ACTIVITY_KIND_MEMSET) ||
           is_on(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
}

static CUptiResult turn(CUpti_ActivityKind kind, int on)
{
    if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= MAX_KIND)
        return CUPTI_ERROR_INVALID_KIND;
    if (!cupti_sim_find())
        return CUPTI_ERROR_NOT_INITIALIZED;
    atomic_store(&kinds[kind], on != 0);
    cupti_sim_record(&device_hooks, is_any_on());
    return CUPTI_SUCCESS;
}

/* Waits for what runs, as the real one does where there is a context. */
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    process = getpid();
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER &&
        (!counts_managed || cupti_sim_is_asked_to_be("unpermitted")))
        return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    CUptiResult result = turn(kind, 1);
    if (result == CUPTI_SUCCESS)
        cupti_sim_synchronise();
    return result;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    return turn(kind, 0);
}

static size_t size_of_kind(CUpti_ActivityKind kind)
{
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)
        return sizeof(CUpti_ActivityUnifiedMemoryCounter3);
    return kind == CUPTI_ACTIVITY_KIND_MEMSET ? sizeof(CUpti_ActivityMemset4)
                                              : sizeof(CUpti_ActivityMemcpy6);
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    if (!buffer || !record)
        return CUPTI_ERROR_INVALID_PARAMETER;
    uint8_t *next = buffer;
    if (*record)
        next = (uint8_t *)*record + size_of_kind((*record)->kind);
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
    (void)stream;
    if (!count)
        return CUPTI_ERROR_INVALID_PARAMETER;
    pthread_mutex_lock(&lock);
    *count = context ? 0 : dropped;
    dropped = context ? dropped : 0;
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}
