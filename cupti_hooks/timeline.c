#include "cupti_hooks/timeline.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include <cupti.h>

#include "common/checks.h"
#include "common/deadlines.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/own_pages.h"
#include "common/uncancelled.h"
#include "cupti_hooks/subscription.h"

#include "common/poison.h"

/* A buffer has room for 170 records. A buffer with one incomplete record does not come back, so
 * while copies are always in flight, small buffers come back sooner. */
enum {
    BUFFER_BYTES = 16 * 1024,
    BUFFERS = 256,
    REMEMBERED = 65536,
    LEAVE_MAX_S = 1,
    LEAVE_POLL_NS = 50 * 1000,
    CLOCK_TRIES = 16,
    CLOCK_FINE_NS = 500,
};

static struct {
    __typeof__(&cuptiActivityRegisterCallbacks) register_callbacks;
    __typeof__(&cuptiActivityEnable) enable;
    __typeof__(&cuptiActivityDisable) disable;
    __typeof__(&cuptiActivityFlushAll) flush;
    __typeof__(&cuptiActivityGetNextRecord) next;
    __typeof__(&cuptiActivityGetNumDroppedRecords) dropped;
    __typeof__(&cuptiGetTimestamp) timestamp;
    __typeof__(&cuptiActivityConfigureUnifiedMemoryCounter) configure_managed;
    __typeof__(&cuptiGetResultString) result_string;
} cupti;

enum { KINDS_MAX = 3 };
static CUpti_ActivityKind kinds[KINDS_MAX]; /* the kinds of records that are enabled */
static _Atomic unsigned kind_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held over calls of CUPTI */
static _Atomic int state = SC_CUPTI_UNUSED;              /* an enum sc_cupti_state */
static _Atomic int managed_state = SC_CUPTI_UNUSED;      /* the same */
static const char *_Atomic managed_detail = "";
static const struct sc_timeline_request *wanted; /* set by sc_timeline_start */
static _Atomic bool tool_was_first; /* another tool has registered, maybe before the library */
static _Atomic bool on;             /* kinds are enabled; written under the lock, read without it */
static _Atomic bool closing;        /* the process ends */
static _Atomic uint64_t records, dropped;

/* ---- buffers ---- */

static uint8_t *memory;
static _Atomic bool is_out[BUFFERS];
static _Atomic unsigned out_count, next_hint;

/* Returns a buffer for CUPTI's records; NULL: all are in use. Threads begin to search at different
 * places, so that they seldom meet. When half of the buffers are out, a thread of the library is
 * woken to flush them. */
static uint8_t *take_buffer(void)
{
    bool has_none = atomic_load_explicit(&out_count, memory_order_relaxed) >= BUFFERS;
    unsigned from = atomic_fetch_add_explicit(&next_hint, 1, memory_order_relaxed);
    for (unsigned i = 0; !has_none && i < BUFFERS; i++) {
        unsigned at = (from + i) % BUFFERS;
        if (atomic_load_explicit(&is_out[at], memory_order_relaxed) ||
            atomic_exchange_explicit(&is_out[at], true, memory_order_acquire))
            continue;
        if (atomic_fetch_add(&out_count, 1) + 1 == BUFFERS / 2)
            wanted->starves();
        SC_ASSERT(memory != NULL);
        return memory + (size_t)at * BUFFER_BYTES;
    }
    return NULL;
}

/* Makes the buffer, which CUPTI has returned, free for take_buffer. */
static void release_buffer(const uint8_t *buffer)
{
    SC_ASSERT(buffer >= memory && buffer < memory + (size_t)BUFFERS * BUFFER_BYTES);
    SC_ASSERT((size_t)(buffer - memory) % BUFFER_BYTES == 0);
    SC_ASSERT(atomic_load(&is_out[(size_t)(buffer - memory) / BUFFER_BYTES]));
    SC_ASSERT(atomic_load(&out_count) != 0);
    atomic_fetch_sub(&out_count, 1);
    atomic_store_explicit(&is_out[(size_t)(buffer - memory) / BUFFER_BYTES], false,
                          memory_order_release);
}

/* Are half of the buffers with CUPTI, so that it should be made to return some? */
bool sc_timeline_lacks_buffers(void)
{
    return atomic_load_explicit(&out_count, memory_order_relaxed) >= BUFFERS / 2;
}

/* ---- what came back ---- */

/* The times of a driver call, by CUPTI's clock. The call's place in the table follows from its id:
 * it replaces the call that was there before. */
struct entry {
    uint32_t correlation_id; /* 0: none */
    uint64_t start, end;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *table SC_GUARDED_BY(table_lock); /* REMEMBERED entries */

/* Keeps when a driver call ran on the device. A call that makes several copies gets the earliest
 * start and the latest end. A record without an id or times is incomplete, and only counted. */
static void remember_locked(uint32_t id, uint64_t start, uint64_t end) SC_REQUIRES(table_lock)
{
    SC_ASSERT_HELD(&table_lock);
    struct entry *entry = &table[id % REMEMBERED];
    if (id == 0 || start == 0 || end == 0) {
        atomic_fetch_add(&dropped, 1);
        return;
    }
    atomic_fetch_add(&records, 1);
    if (entry->correlation_id != id)
        *entry = (struct entry){id, start, end};
    entry->start = start < entry->start ? start : entry->start;
    entry->end = end > entry->end ? end : entry->end;
}

/* Tells the request's handler of a record about managed memory: pages that moved, or a fault. */
static void read_managed(const CUpti_ActivityUnifiedMemoryCounter3 *record)
{
    _Static_assert((int)SC_MANAGED_TO_DEVICE ==
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD &&
                       (int)SC_MANAGED_FAULT ==
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT &&
                       (int)SC_MANAGED_BETWEEN ==
                           CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
                   "as CUPTI numbers them");
    const struct sc_managed_news news = {
        .kind = (enum sc_managed_news_kind)record->counterKind,
        .address = record->address,
        .value = record->value,
        .from = record->srcId,
        .to = record->dstId,
        .is_eviction =
            record->counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH &&
            record->flags == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_EVICTION,
    };
    atomic_fetch_add(&records, 1);
    wanted->managed(&news);
}

/* Reads one record of CUPTI's: a copy's or memset's times, or news of managed memory. Since CUDA 11
 * the structs of records have only grown at their ends, so older records can be read as newer ones.
 */
static void read_record_locked(const CUpti_Activity *record) SC_REQUIRES(table_lock)
{
    SC_ASSERT_HELD(&table_lock);
    const CUpti_ActivityMemcpy6 *copy = (const void *)record;
    const CUpti_ActivityMemset4 *set = (const void *)record;
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        remember_locked(copy->correlationId, copy->start, copy->end);
    else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
        remember_locked(set->correlationId, set->start, set->end);
    else if (record->kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER && wanted->managed)
        read_managed((const void *)record);
}

/* CUPTI's request for a buffer. NULL: CUPTI gets none, and drops the record. No more buffers are
 * given at the end of the process, nor once the records are given up: give_up_records waits for all
 * that are out. */
static void CUPTIAPI give_room(uint8_t **buffer, size_t *size, size_t *records_max)
{
    *buffer = atomic_load(&closing) ? NULL : take_buffer();
    if (*buffer && !atomic_load(&on)) { /* given up meanwhile; or give_up_records sees the buffer */
        release_buffer(*buffer);
        *buffer = NULL;
    }
    *size = *buffer ? BUFFER_BYTES : 0;
    *records_max = 0;
}

/* CUPTI returns a buffer: reads its records. A later client's buffer may be returned here, too; it
 * is not the library's, and is left alone. */
static void CUPTIAPI read_buffer(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                 size_t valid_size)
{
    CUpti_Activity *record = NULL;
    (void)context, (void)stream, (void)size;
    if (buffer < memory || buffer >= memory + (size_t)BUFFERS * BUFFER_BYTES)
        return;
    sc_mutex_lock(&table_lock);
    while (valid_size > 0 && cupti.next(buffer, valid_size, &record) == CUPTI_SUCCESS)
        read_record_locked(record);
    sc_mutex_unlock(&table_lock);
    release_buffer(buffer);
}

/* Measures how far CLOCK_MONOTONIC is ahead of CUPTI's clock, modulo 2^64. Of several tries the one
 * counts that was interrupted least between its two readings of CLOCK_MONOTONIC. False: CUPTI gives
 * no time. */
static bool measure_ahead(uint64_t *ahead)
{
    uint64_t least_ns = UINT64_MAX;
    for (unsigned i = 0; i < CLOCK_TRIES && least_ns > CLOCK_FINE_NS; i++) {
        uint64_t theirs;
        uint64_t before = sc_now_ns();
        if (cupti.timestamp(&theirs) != CUPTI_SUCCESS)
            return false;
        uint64_t took_ns = sc_now_ns() - before;
        if (took_ns < least_ns) {
            least_ns = took_ns;
            *ahead = before + took_ns / 2 - theirs;
        }
    }
    return true;
}

/* Finds when the device made the copies that a driver call with this id of CUPTI's issued. False:
 * CUPTI has not delivered that yet, or a later call has taken its place in the table. Times of
 * CUPTI's clock are converted to CLOCK_MONOTONIC. */
bool sc_timeline_find(uint32_t correlation_id, struct sc_device_times *times)
{
    if (correlation_id == 0)
        return false;
    sc_mutex_lock(&table_lock);
    struct entry entry = table ? table[correlation_id % REMEMBERED] : (struct entry){0};
    sc_mutex_unlock(&table_lock);
    uint64_t ahead = 0;
    if (entry.correlation_id != correlation_id || !measure_ahead(&ahead))
        return false;
    *times = (struct sc_device_times){entry.start + ahead, entry.end + ahead};
    return true;
}

/* ---- on and off ---- */

/* Looks up CUPTI's functions for records. False: one is missing. Those for managed memory may be
 * missing. */
static bool find_functions(void *library, void *(*symbol)(void *handle, const char *name))
{
#define FIND(member, name) cupti.member = (__typeof__(cupti.member))symbol(library, name)
    FIND(register_callbacks, "cuptiActivityRegisterCallbacks");
    FIND(enable, "cuptiActivityEnable");
    FIND(disable, "cuptiActivityDisable");
    FIND(flush, "cuptiActivityFlushAll");
    FIND(next, "cuptiActivityGetNextRecord");
    FIND(dropped, "cuptiActivityGetNumDroppedRecords");
    FIND(timestamp, "cuptiGetTimestamp");
    FIND(configure_managed, "cuptiActivityConfigureUnifiedMemoryCounter");
    FIND(result_string, "cuptiGetResultString");
#undef FIND
    return cupti.register_callbacks && cupti.enable && cupti.disable && cupti.flush && cupti.next &&
           cupti.dropped && cupti.timestamp;
}

/* Ends all kinds of records that were enabled. `on` is cleared first, so that no further buffer is
 * given. */
static void disable_kinds(void)
{
    atomic_store(&on, false);
    for (unsigned left = atomic_exchange(&kind_count, 0); left > 0; left--)
        cupti.disable(kinds[left - 1]);
}

/* Enables a kind of records, and notes it for disable_kinds. */
static CUptiResult enable_kind(CUpti_ActivityKind kind)
{
    CUptiResult result = cupti.enable(kind);
    SC_ASSERT(kind_count < KINDS_MAX);
    if (result == CUPTI_SUCCESS)
        kinds[kind_count++] = kind;
    return result;
}

/* Enables the records of copies and memsets. If only one of the two works, neither is used: times
 * would be missing. */
static enum sc_cupti_state enable_copies(void)
{
    if (enable_kind(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS &&
        enable_kind(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_SUCCESS)
        return SC_CUPTI_LISTENING;
    disable_kinds();
    return SC_CUPTI_FAILED;
}

/* Asks CUPTI for all kinds of records of managed memory, which must be done before they are
 * enabled. One request is for all devices. */
static CUptiResult configure_managed(void)
{
    CUpti_ActivityUnifiedMemoryCounterConfig all[SC_MANAGED_BETWEEN];
    for (unsigned i = 0; i < SC_MANAGED_BETWEEN; i++)
        all[i] = (CUpti_ActivityUnifiedMemoryCounterConfig){
            .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE,
            .kind = (CUpti_ActivityUnifiedMemoryCounterKind)(i + 1),
            .enable = 1,
        };
    return cupti.configure_managed(all, SC_MANAGED_BETWEEN);
}

/* Enables the records of managed memory. On failure CUPTI's reason is kept for the report. */
static enum sc_cupti_state enable_managed(void)
{
    const char *detail = "";
    if (!cupti.configure_managed || !cupti.result_string)
        return SC_CUPTI_TOO_OLD;
    CUptiResult result = configure_managed();
    if (result == CUPTI_SUCCESS)
        result = enable_kind(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
    if (result != CUPTI_SUCCESS && cupti.result_string(result, &detail) == CUPTI_SUCCESS)
        atomic_store(&managed_detail, detail);
    return result == CUPTI_SUCCESS ? SC_CUPTI_LISTENING : SC_CUPTI_FAILED;
}

/* Maps the table in which it is kept when driver calls ran on the device. False: no memory. */
static bool make_table(void)
{
    SC_LOCKED(&table_lock);
    table = sc_pages_map(REMEMBERED * sizeof *table);
    return table != NULL;
}

/* Prepares all that the records need. Returns LISTENING if kinds of records may be enabled now. A
 * tool that was first stays CUPTI's client. */
static enum sc_cupti_state prepare_locked(void *library,
                                          void *(*symbol)(void *handle, const char *name))
    SC_REQUIRES(lock)
{
    SC_ASSERT_HELD(&lock);
    if (atomic_load(&tool_was_first))
        return SC_CUPTI_HELD;
    if (!find_functions(library, symbol))
        return SC_CUPTI_TOO_OLD;
    memory = sc_pages_map((size_t)BUFFERS * BUFFER_BYTES);
    if (!memory || !make_table() ||
        cupti.register_callbacks(give_room, read_buffer) != CUPTI_SUCCESS)
        return SC_CUPTI_FAILED;
    return SC_CUPTI_LISTENING;
}

/* Enables the records that were requested. Copies come first: if these fail, enable_copies disables
 * all kinds and clears `on`, which is then set again for managed memory. */
void sc_timeline_start(void *library, void *(*symbol)(void *handle, const char *name),
                       const struct sc_timeline_request *request)
{
    SC_LOCKED(&lock);
    wanted = request;
    enum sc_cupti_state copies = prepare_locked(library, symbol), managed = copies;
    bool works = copies == SC_CUPTI_LISTENING;
    atomic_store(&on, works); /* before: CUPTI may request a buffer as soon as a kind is enabled */
    if (works && request->copies)
        copies = enable_copies();
    atomic_store(&on, works);
    if (works && request->managed)
        managed = enable_managed();
    atomic_store(&on, kind_count > 0);
    if (request->copies)
        atomic_store(&state, (int)copies);
    if (request->managed)
        atomic_store(&managed_state, (int)managed);
}

/* Returns whether records of copies come, or why not. */
enum sc_cupti_state sc_timeline_state(void)
{
    return (enum sc_cupti_state)atomic_load(&state);
}

/* Returns whether records of managed memory come, or why not. */
enum sc_cupti_state sc_timeline_managed_state(void)
{
    return (enum sc_cupti_state)atomic_load(&managed_state);
}

/* Returns CUPTI's reason for giving no records of managed memory; "" if it gives them. */
const char *sc_timeline_managed_detail(void)
{
    return atomic_load(&managed_detail);
}

/* Records that what was requested cannot be used, since the thread that would read it is missing.
 */
void sc_timeline_fail(void)
{
    if (wanted->copies)
        atomic_store(&state, SC_CUPTI_FAILED);
    if (wanted->managed)
        atomic_store(&managed_state, SC_CUPTI_FAILED);
}

/* Are any records enabled? */
bool sc_timeline_is_on(void)
{
    return atomic_load(&on);
}

/* Makes CUPTI return its buffers, with `all` also those with records of unfinished work, which are
 * lost then. Counts the records that CUPTI has dropped since. */
static void flush_buffers(bool all)
{
    size_t lost = 0;
    cupti.flush(all ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    if (cupti.dropped(NULL, 0, &lost) == CUPTI_SUCCESS)
        atomic_fetch_add(&dropped, lost);
}

/* Makes CUPTI deliver its records if any are enabled. The lock is held, so that they are not
 * disabled meanwhile. This may take as long as a driver call of the program. */
void sc_timeline_flush(bool all)
{
    SC_LOCKED(&lock);
    if (atomic_load(&on))
        flush_buffers(all);
}

/* Gives up the records, so that CUPTI has no buffer of the library. Disabling does not wait for
 * running copies. Records of work in flight would be delivered to the next client, in a buffer of
 * the library, so they are dropped. A thread that was just given a buffer may not have passed it to
 * CUPTI yet, so flushes are repeated for a while. */
static void give_up_records(void)
{
    const struct timespec moment = {.tv_nsec = LEAVE_POLL_NS};
    uint64_t until_ns = sc_now_ns() + LEAVE_MAX_S * UINT64_C(1000000000);
    SC_UNCANCELLED();
    disable_kinds();
    flush_buffers(/*all*/ true);
    for (; atomic_load(&out_count) && sc_now_ns() < until_ns; flush_buffers(/*all*/ true))
        nanosleep(&moment, NULL);
}

/* Takes the lock, unless that takes more than a second, as the thread that flushes may have it for
 * longer. */
static bool lock_in_time(void) SC_TRY_ACQUIRES(true, lock)
{
    struct timespec until = sc_deadline_in(LEAVE_MAX_S * UINT64_C(1000000000));
    return sc_mutex_lock_until(&lock, &until) == 0;
}

/* Notes that records which were delivered until now have gone to another tool. */
static void yield_state(_Atomic int *what)
{
    int listening = SC_CUPTI_LISTENING;
    atomic_compare_exchange_strong(what, &listening, SC_CUPTI_YIELDED);
}

/* Ends the records, as another tool wants to be CUPTI's client for them. Returns whether there were
 * any. A flush of the library may hold the lock for long, since it waits for a driver call of the
 * program. Then this goes on without the lock, and two threads call CUPTI. */
bool sc_timeline_yield(void) SC_UNFOLLOWED
{
    atomic_store(&tool_was_first, true);
    bool locked = lock_in_time();
    bool leaves = atomic_load(&on);
    if (leaves) {
        give_up_records();
        yield_state(&state);
        yield_state(&managed_state);
    }
    if (locked)
        sc_mutex_unlock(&lock);
    return leaves;
}

/* The process ends: CUPTI gets no more buffers. */
void sc_timeline_stop(void)
{
    atomic_store(&closing, true);
}

/* Resets the state in a forked child, where CUPTI delivers nothing. The locks are made anew, as
 * other threads of the parent may have held them. */
void sc_timeline_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    table_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    atomic_store(&on, false);
    atomic_store(&state, SC_CUPTI_UNUSED);
    atomic_store(&managed_state, SC_CUPTI_UNUSED);
}

/* Stores how many records were delivered, and how many were lost. */
void sc_timeline_get_counts(struct sc_timeline_counts *counts)
{
    counts->records = atomic_load(&records);
    counts->dropped = atomic_load(&dropped);
}
