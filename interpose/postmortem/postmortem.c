#include "interpose/postmortem/postmortem.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/mutex.h"
#include "common/now.h"
#include "common/op_kinds.h"
#include "common/ticks.h"
#include "cupti_hooks/current_call.h"
#include "interpose/base/process.h"
#include "interpose/base/unwind.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/call.h"
#include "interpose/driver/driver.h"
#include "interpose/ledger/limits.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/streams.h"
#include "interpose/streams/unfinished.h"
#include "report/postmortem_line.h"
#include "report/report.h"
#include "track/history.h"
#include "track/stacks.h"
#include "track/track_streams.h"

#include "common/poison.h"

/* Errors after which the process or the context has to be given up, as cuda.h says. Of a context
 * that is destroyed that is evident, and the unknown error is seen to stay. */
static const struct lost {
    CUresult error;
    const char *name;
} all_lost[] = {
#define LOST(error)                                                                                \
    {                                                                                              \
        error, #error                                                                              \
    }
    LOST(CUDA_ERROR_CONTAINED),
    LOST(CUDA_ERROR_ILLEGAL_ADDRESS),
    LOST(CUDA_ERROR_LAUNCH_TIMEOUT),
    LOST(CUDA_ERROR_CONTEXT_IS_DESTROYED),
    LOST(CUDA_ERROR_ASSERT),
    LOST(CUDA_ERROR_HARDWARE_STACK_ERROR),
    LOST(CUDA_ERROR_ILLEGAL_INSTRUCTION),
    LOST(CUDA_ERROR_MISALIGNED_ADDRESS),
    LOST(CUDA_ERROR_INVALID_ADDRESS_SPACE),
    LOST(CUDA_ERROR_INVALID_PC),
    LOST(CUDA_ERROR_LAUNCH_FAILED),
    LOST(CUDA_ERROR_TENSOR_MEMORY_LEAK),
    LOST(CUDA_ERROR_MPS_CLIENT_TERMINATED),
    LOST(CUDA_ERROR_EXTERNAL_DEVICE),
    LOST(CUDA_ERROR_UNKNOWN),
#undef LOST
};

static const struct lost aborted = {CUDA_SUCCESS, "SIGABRT"};

/* Returns the record of an error after which a context does no more work, with its name; NULL: it
 * is no such error. */
static const struct lost *find_lost(CUresult error)
{
    for (size_t i = 0; i < sizeof all_lost / sizeof all_lost[0]; i++)
        if (all_lost[i].error == error)
            return &all_lost[i];
    return NULL;
}

/* Of so many streams all operations are shown; of the others those in flight. */
enum { WHOLE_STREAMS = 8, OPERATIONS_MAX = (SC_HISTORY_RINGS + 1) * SC_HISTORY_LENGTH };

/* How far the only line of the process is. */
enum line_stage { NOT_BEGUN, BEGUN, WRITTEN };

static _Atomic int line_stage;

/* The entries of all streams. This and all below belongs to the thread that has set the stage to
 * BEGUN. */
static struct sc_history_entry entries[OPERATIONS_MAX];
static unsigned entry_count;
/* Memory that was given back: frees. */
static struct sc_history_entry given_back[SC_HISTORY_LENGTH];
static unsigned given_back_count;
static struct sc_postmortem_operation operations[OPERATIONS_MAX];
static struct sc_postmortem_operation freed[SC_HISTORY_LENGTH];
static struct sc_postmortem_stream streams[OPERATIONS_MAX];

/* ---- one operation ---- */

/* Does the host know that this entry of the history is done? By its number on the stream, or by its
 * time: a kernel has no number of its own, but an event behind it may have been waited for. */
static bool is_done(const struct sc_history_entry *entry)
{
    struct sc_stream_record *record = sc_streams_of_id(entry->stream);
    if (sc_track_stream(&sc_track, entry->stream).done >= entry->number)
        return true;
    return record && sc_unfinished_is_done(record, entry->ticks);
}

/* Returns a history's entry as the line shows it. An entry without a stack gets a stack of the
 * program's call (`site`) alone. */
static struct sc_postmortem_operation describe(const struct sc_history_entry *entry, bool in_flight)
{
    void *site = (void *)entry->site;
    struct sc_postmortem_operation operation = {*entry, sc_ticks_to_ns(entry->ticks), in_flight};
    if (site && !entry->stack)
        operation.is.stack = sc_stacks_put(&site, 1);
    return operation;
}

/* ---- streams ---- */

/* Did one entry of a stream come after the other? By their numbers on the stream; work without a
 * number of its own has that of an operation before it, and is later by its time. */
static bool is_later(const struct sc_history_entry *one, const struct sc_history_entry *other)
{
    return one->number > other->number ||
           (one->number == other->number && one->ticks > other->ticks);
}

/* Inserts the entry among those of its stream, the latest first, before entries that are not later.
 * The entries of different streams may lie in turn: only those of the same stream are moved. It is
 * shown as an operation, without a direction. */
static void insert_entry(const struct sc_history_entry *entry)
{
    unsigned at = entry_count++;
    for (unsigned i = at; i-- > 0;) {
        if (entries[i].stream != entry->stream)
            continue;
        if (is_later(&entries[i], entry))
            break;
        entries[at] = entries[i];
        at = i;
    }
    entries[at] = *entry;
    entries[at].direction = SC_NO_DIRECTION;
}

/* Reads the histories of all streams, and that of frees. A free in a stream's order
 * (cuMemFreeAsync) is shown as an operation of that stream as well. */
static void read_entries(void)
{
    entry_count = 0;
    for (unsigned i = 0; i < SC_HISTORY_RINGS; i++)
        entry_count += sc_history_read(&sc_history.streams[i], &entries[entry_count]);
    given_back_count = sc_history_read(&sc_history.frees, given_back);
    for (unsigned i = given_back_count; i-- > 0;)
        if (given_back[i].stream)
            insert_entry(&given_back[i]);
}

/* Returns the index of the latest operation on the streams that are still to be shown; entry_count:
 * there is none. take_stream sets the stream of what it has shown to 0. */
static unsigned find_latest(void)
{
    unsigned latest = entry_count;
    for (unsigned i = 0; i < entry_count; i++) {
        bool later = latest == entry_count || entries[i].ticks > entries[latest].ticks;
        if (entries[i].stream && later)
            latest = i;
    }
    return latest;
}

/* Raises times that cannot be right. `shown` has the latest first. Some calls only note an earlier
 * time than their own, but nothing came before the entry that precedes it on its stream. */
static void raise_times(struct sc_postmortem_operation *shown, unsigned count)
{
    for (unsigned i = count; i-- > 1;)
        if (shown[i - 1].time_ns < shown[i].time_ns)
            shown[i - 1].time_ns = shown[i].time_ns;
}

/* Moves the stream's operations to `shown`, in their order. `is_whole`: all are shown, else only
 * those in flight, as the line has room for few streams in full. Returns how many are shown. */
static unsigned take_stream(uint32_t id, bool is_whole, struct sc_postmortem_operation *shown)
{
    unsigned count = 0;
    for (unsigned i = 0; i < entry_count; i++) {
        if (entries[i].stream != id)
            continue;
        bool in_flight = !is_done(&entries[i]);
        if (in_flight || is_whole)
            shown[count++] = describe(&entries[i], in_flight);
        entries[i].stream = 0;
    }
    raise_times(shown, count);
    return count;
}

/* Collects what the line shows of streams: of the few that were used last all operations, and of
 * the others those in flight. A stream without any is left out. Returns how many streams are shown.
 */
static unsigned collect_streams(void)
{
    unsigned count = 0, stream_index = 0, operation_count = 0;
    read_entries();
    for (unsigned first; (first = find_latest()) < entry_count; stream_index++) {
        uint32_t id = entries[first].stream;
        const struct sc_stream_view stream = sc_track_stream(&sc_track, id);
        struct sc_postmortem_stream *shown = &streams[count];
        *shown = (struct sc_postmortem_stream){
            .handle = stream.handle,
            .device = stream.device,
            .operations = &operations[operation_count],
            .count = take_stream(id, stream_index < WHOLE_STREAMS, &operations[operation_count]),
        };
        operation_count += shown->count;
        count += shown->count > 0;
    }
    return count;
}

/* ---- memory that was given back ---- */

/* Do two adjacent entries of the history of frees tell of one call? Two hooks may see the same
 * free, one of which knows the stream. */
static bool is_same_call(const struct sc_history_entry *one, const struct sc_history_entry *next)
{
    return one->api == next->api && one->address == next->address && one->site == next->site &&
           one->thread == next->thread && !(one->stream && next->stream);
}

/* Collects the memory that was freed shortly before the error, each call once. Returns how many. */
static unsigned collect_frees(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < given_back_count; i++)
        if (i == 0 || !is_same_call(&given_back[i - 1], &given_back[i]))
            freed[count++] = describe(&given_back[i], /*in_flight=*/false);
    raise_times(freed, count);
    return count;
}

/* ---- the line ---- */

/* Fills in what was going on, and writes the `postmortem` line, with the modules that its stacks
 * name. */
static void write_line(struct sc_postmortem *postmortem)
{
    postmortem->streams = streams;
    postmortem->stream_count = collect_streams();
    postmortem->frees = freed;
    postmortem->free_count = collect_frees();
    sc_report_postmortem(postmortem);
    sc_report_modules();
}

/* May a kernel have caused the error because malloc on the device gave it NULL? It has written
 * there, or has looked and given up (assert, __trap). Then the size of the device's heap matters.
 */
static bool may_come_of_null(CUresult error)
{
    return error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_ASSERT ||
           error == CUDA_ERROR_LAUNCH_FAILED;
}

/* Returns the call that has fixed the size of the device's heap in the current context: memory may
 * have been short there. NULL: that is not known, or the error is of another kind. */
static const struct sc_limit_event *find_heap_user(const struct lost *lost)
{
    CUcontext handle = NULL;
    if (!may_come_of_null(lost->error) || sc_real.cuCtxGetCurrent(&handle) != CUDA_SUCCESS ||
        !handle)
        return NULL;
    const struct sc_context *context = sc_contexts_known(handle);
    return context ? sc_limits_heap_user(context) : NULL;
}

/* Writes the line, once in a process; another thread may have begun to. `api` and `site`: the
 * program's call that has got the error. */
static void write_once(const struct lost *lost, const char *api, void *site)
{
    SC_KEEP_ERRNO();
    int before = NOT_BEGUN;
    if (!atomic_compare_exchange_strong(&line_stage, &before, BEGUN))
        return;
    struct sc_postmortem postmortem = {
        .error = (int)lost->error,
        .name = lost->name,
        .call = {.api = api,
                 .thread = sc_thread_id(),
                 .time_ns = sc_now_ns(),
                 .runtime_api = sc_current_call_runtime_api(),
                 .stack = sc_unwind_here(site)},
        .heap_user = find_heap_user(lost),
    };
    write_line(&postmortem);
    atomic_store(&line_stage, WRITTEN);
}

/* May the line be written now? Not twice, nor without the option. Not if this thread holds a lock
 * of the library or of a stream, as the line needs them: the next call gets the same error, and
 * writes it. */
static bool may_write_line(void)
{
    return atomic_load_explicit(&line_stage, memory_order_relaxed) == NOT_BEGUN &&
           sc_options.postmortem && sc_active() && !sc_library_lock_depth && !sc_mutex_depth;
}

/* Where this library's code lies: the library's own calls return to it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

/* Is the call the library's own? It returns to the library's code, and the program did not make it.
 */
static bool is_in_library(const void *site)
{
    return (uintptr_t)site >= (uintptr_t)__ehdr_start && (uintptr_t)site < (uintptr_t)_end;
}

/* Does the error say that the current context is lost? Two do not: one is about a handle that is no
 * context any more, the other about something unknown. */
static bool is_of_current_context(CUresult error)
{
    return error != CUDA_ERROR_CONTEXT_IS_DESTROYED && error != CUDA_ERROR_UNKNOWN;
}

/* Called with each error that the driver returns to a wrapper. If it ends a context, writes what
 * was going on to the report. A call of the library's own, as in a replay, is no call of the
 * program, and the line would name the wrong one: none is written for it. */
void sc_postmortem_failed(const struct sc_call *call, int result)
{
    const struct lost *lost = find_lost((CUresult)result);
    if (lost && is_of_current_context(lost->error))
        sc_contexts_note_lost();
    if (lost && !is_in_library(call->site) && may_write_line())
        write_once(lost, call->api, call->site);
}

/* Writes what was going on when the program calls abort, as an assertion on a CUDA error may do. An
 * abort by the library itself (halt_on_error=1) has been explained already. */
void sc_postmortem_write_on_abort(void *site)
{
    if (!is_in_library(site) && may_write_line())
        write_once(&aborted, "abort", site);
}

/* Waits, before the process ends, at most two seconds for another thread that is writing the line,
 * which would be cut off. */
void sc_postmortem_await(void)
{
    enum { TRIES = 2000, PAUSE_NS = 1000 * 1000 };
    const struct timespec pause = {0, PAUSE_NS};
    for (int i = 0; i < TRIES && atomic_load(&line_stage) == BEGUN && sc_active(); i++)
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
}
