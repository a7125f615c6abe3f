#include "interpose/streams/marks.h"

#include <time.h>
#include <unistd.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/kernel.h"
#include "common/now.h"
#include "common/own_pages.h"
#include "common/points.h"
#include "common/ticks.h"
#include "common/trace.h"
#include "common/uncancelled.h"
#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/upcalls.h"
#include "interpose/driver/driver.h"
#include "interpose/driver/relaxed.h"
#include "interpose/driver/replaying.h"
#include "interpose/streams/contexts.h"
#include "interpose/streams/unfinished.h"
#include "track/frontier.h"
#include "track/no_verdicts.h"
#include "track/order_calls.h"
#include "track/stream_front.h"
#include "track/track.h"
#include "track/track_order.h"
#include "track/track_parts.h"
#include "track/track_streams.h"

#include "common/poison.h"

enum { POLL_MIN_NS = 20 * 1000, POLL_MAX_NS = 1000 * 1000 };

/* A snapshotted copy keeps nobody waiting. Its mark only gives staging memory back, and tells how
 * sure a hazard is, so it may come later. */
enum {
    MARK_BYTES_MIN = 256 * 1024,
    MARK_INTERVAL_NS = 100 * 1000,
    SNAPSHOTTED_MARK_INTERVAL_NS = 1000 * 1000,
    TIME_SHARE = 8, /* marks take at most one part of so many of the time */
};

static uint64_t mark_interval_ticks;
static uint64_t snapshotted_mark_interval_ticks;

void sc_marks_start(void)
{
    sc_ticks_start();
    mark_interval_ticks = sc_ticks_in_ns(MARK_INTERVAL_NS);
    snapshotted_mark_interval_ticks = sc_ticks_in_ns(SNAPSHOTTED_MARK_INTERVAL_NS);
}

/* ---- what the driver makes ---- */

/* Streams are created with the stack of a thread of ours (sc_library_threads_call). */
struct creation {
    CUstream stream;
    CUresult result;
};

static void create_stream(void *argument)
{
    struct creation *creation = argument;
    creation->result = sc_real.cuStreamCreate(&creation->stream, CU_STREAM_DEFAULT);
}

static CUresult new_event(CUevent *event)
{
    SC_NO_CANCELLATION_POINT();
    return sc_real.cuEventCreate(event, CU_EVENT_DISABLE_TIMING);
}

/* Creates a blocking stream, for a marker. */
static CUresult new_stream(CUstream *stream)
{
    struct creation creation = {NULL, CUDA_ERROR_OUT_OF_MEMORY};
    sc_library_threads_call(create_stream, &creation);
    *stream = creation.stream;
    return creation.result;
}

/* ---- events, which are kept for another time ---- */

/* Takes an unused event of the stream or of the context, or makes one. Returns the driver's answer;
 * the event is valid only after success. Pre: the context is current. */
static CUresult obtain_event(struct sc_stream_record *stream, CUevent *event)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_spare_events *spare = &stream->context->spare_events;
    *event = NULL;
    if (stream->marks.spare_count) {
        *event = stream->marks.spare[--stream->marks.spare_count];
        return CUDA_SUCCESS;
    }
    sc_brief_lock_acquire(&spare->lock);
    SC_ASSERT(spare->count <= SC_SPARE_EVENTS_MAX && (spare->events || !spare->count));
    if (spare->count)
        *event = spare->events[--spare->count];
    sc_brief_lock_release(&spare->lock);
    return *event ? CUDA_SUCCESS : new_event(event);
}

static CUevent take_event(struct sc_stream_record *stream)
{
    CUevent event = NULL;
    return obtain_event(stream, &event) == CUDA_SUCCESS ? event : NULL;
}

enum { SPARE_EVENTS_BYTES = SC_SPARE_EVENTS_MAX * sizeof(CUevent) };

/* Keeps the event for the context's next marks. The memory for the list is mapped with the first
 * event, and unmapped when the context ends (sc_marks_context_gone). Returns false if there is no
 * room. */
static bool keep_spare_event(struct sc_context *context, CUevent event)
{
    struct sc_spare_events *spare = &context->spare_events;
    sc_brief_lock_acquire(&spare->lock);
    if (!spare->events && !atomic_load_explicit(&context->gone, memory_order_relaxed))
        spare->events = sc_pages_map(SPARE_EVENTS_BYTES);
    bool kept = spare->events && spare->count < SC_SPARE_EVENTS_MAX;
    if (kept)
        spare->events[spare->count++] = event;
    sc_brief_lock_release(&spare->lock);
    return kept;
}

static void destroy_event(const struct sc_context *context, CUevent event)
{
    if (!sc_contexts_events_are_dead(context))
        sc_real.cuEventDestroy_v2(event);
}

static void keep_in_context(struct sc_context *context, CUevent event)
{
    SC_ASSERT(event != NULL);
    if (!keep_spare_event(context, event))
        destroy_event(context, event);
}

/* Keeps the event for the stream's next marks, or, if the stream has enough, for the context's. So
 * threads with streams of their own do not compete for the context's lock. */
static void keep_event(struct sc_stream_record *stream, CUevent event)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_stream_marks *marks = &stream->marks;
    if (marks->spare_count < SC_MARKS_SPARE)
        marks->spare[marks->spare_count++] = event;
    else
        keep_in_context(stream->context, event);
}

/* Destroys the context's unused events. */
void sc_marks_context_gone(struct sc_context *context)
{
    struct sc_spare_events *spare = &context->spare_events;
    sc_brief_lock_acquire(&spare->lock);
    CUevent *events = spare->events;
    unsigned count = spare->count;
    spare->events = NULL;
    spare->count = 0;
    sc_brief_lock_release(&spare->lock);
    for (unsigned i = 0; i < count; i++)
        destroy_event(context, events[i]);
    sc_pages_unmap(events, SPARE_EVENTS_BYTES);
}

/* ---- marks of one stream ---- */

static unsigned ring_room(const struct sc_stream_marks *marks)
{
    return marks->more ? marks->more_room : SC_MARKS_FEW;
}

static struct sc_mark *mark_at(struct sc_stream_marks *marks, unsigned position)
{
    struct sc_mark *ring = marks->more ? marks->more : marks->few;
    return &ring[(marks->first + position) % ring_room(marks)];
}

/* Asserts that the ring has no more marks than room, and that their numbers ascend. */
static SC_CHECKER void check_marks(struct sc_stream_record *stream)
{
    struct sc_stream_marks *marks = &stream->marks;
    uint64_t number = 0;
    SC_ASSERT(marks->count <= ring_room(marks) && marks->first < ring_room(marks));
    SC_ASSERT((marks->more != NULL) == (marks->more_room != 0));
    for (unsigned i = 0; i < marks->count; i++) {
        SC_ASSERT(mark_at(marks, i)->number >= number);
        SC_ASSERT(mark_at(marks, i)->event != NULL);
        number = mark_at(marks, i)->number;
    }
    SC_ASSERT(number <= sc_track_issued(&sc_track, stream->id));
}

static struct sc_mark *newest_mark(struct sc_stream_marks *marks)
{
    SC_ASSERT(marks->count > 0);
    return mark_at(marks, marks->count - 1);
}

/* Was an operation issued after the last mark? Operations are compared by their numbers: one that
 * another thread issues while a mark is recorded is not before that mark. */
static bool is_unmarked(const struct sc_stream_record *stream)
{
    return sc_track_issued(&sc_track, stream->id) >
           atomic_load_explicit(&stream->marks.marked, memory_order_relaxed);
}

/* Returns the context's marker stream, made when it is first needed. If two threads make it at the
 * same time, the second destroys its own and uses the first's. */
static CUresult make_marker(struct sc_context *context, CUstream *marker)
{
    CUstream fresh = NULL;
    *marker = atomic_load_explicit(&context->marks.marker, memory_order_acquire);
    CUresult result = *marker ? CUDA_SUCCESS : new_stream(&fresh);
    if (*marker || result != CUDA_SUCCESS)
        return result;
    if (atomic_compare_exchange_strong(&context->marks.marker, marker, fresh)) {
        *marker = fresh;
        sc_nvtx_name_stream(fresh, "safecopy: marks behind the legacy stream");
    } else {
        sc_real.cuStreamDestroy_v2(fresh);
    }
    return CUDA_SUCCESS;
}

CUstream sc_marks_marker(struct sc_context *context)
{
    CUstream marker = NULL;
    return make_marker(context, &marker) == CUDA_SUCCESS ? marker : NULL;
}

uint64_t sc_marks_marker_ticks(struct sc_context *context)
{
    uint64_t legacy = sc_unfinished_legacy_ticks(context);
    uint64_t outlived = atomic_load_explicit(&context->marks.outlived_ticks, memory_order_relaxed);
    return legacy > outlived ? legacy : outlived;
}

/* Returns the stream on which an event has to be recorded to be after this stream's work. */
static CUresult stream_to_record_on(struct sc_stream_record *stream, CUstream *marker)
{
    *marker = stream->handle;
    return stream->kind == SC_STREAM_LEGACY ? make_marker(stream->context, marker) : CUDA_SUCCESS;
}

/* Can this thread name the stream? On every other thread, the handle of a per-thread default stream
 * means another stream. */
static bool thread_can_name(const struct sc_stream_record *stream)
{
    return !stream->gone && (!stream->owner || stream->owner == sc_thread_id());
}

/* Removes the oldest mark. */
static void pop_mark(struct sc_stream_record *stream)
{
    SC_TRACE("mark-pop stream count", stream->id, stream->marks.count);
    struct sc_stream_marks *marks = &stream->marks;
    SC_ASSERT_HELD(&stream->lock);
    SC_ASSERT(marks->count > 0);
    keep_event(stream, mark_at(marks, 0)->event);
    marks->first = (marks->first + 1) % ring_room(marks);
    marks->count--;
    SC_CHECK_OF(marks->count, check_marks(stream));
}

/* Removes the marks of operations that are known done: their events can be used again. */
static void pop_known(struct sc_stream_record *stream)
{
    while (stream->marks.count && !sc_contexts_is_quiet(stream->context)) {
        struct sc_ticket ticket = {.stream = stream->id,
                                   .number = mark_at(&stream->marks, 0)->number};
        if (!sc_track_is_known_done(&sc_track, &ticket))
            break;
        pop_mark(stream);
    }
}

/* Keeps the events of the ended stream's marks for its context. If the context has ended, so have
 * the events. */
void sc_marks_drop(struct sc_stream_record *stream)
{
    struct sc_stream_marks *marks = &stream->marks;
    SC_ASSERT_HELD(&stream->lock);
    bool dead = atomic_load_explicit(&stream->context->gone, memory_order_acquire);
    while (marks->count && !dead)
        pop_mark(stream);
    if (marks->fence && !dead)
        sc_real.cuEventDestroy_v2(marks->fence);
    for (unsigned i = 0; i < marks->spare_count && !dead; i++)
        keep_in_context(stream->context, marks->spare[i]);
    marks->count = 0;
    marks->fence = NULL;
    marks->spare_count = 0;
}

/* Prepares the record for another stream, which has no marks. */
void sc_marks_renew_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_stream_marks *marks = &stream->marks;
    *marks = (struct sc_stream_marks){
        .more = marks->more,
        .more_room = marks->more_room,
        .marked = sc_track_issued(&sc_track, stream->id),
    };
}

/* Does the answer about an event say that its work is complete? An error does, too, since it comes
 * from a broken context in which nothing runs any more; but not an error that only refuses the
 * question, inside of a host function or during a capture. */
static bool says_complete(CUresult answer)
{
    return answer != CUDA_ERROR_NOT_READY && answer != CUDA_ERROR_NOT_PERMITTED &&
           !sc_driver_is_capture_error(answer);
}

static bool is_mark_complete(void *argument, unsigned position)
{
    struct sc_stream_record *stream = argument;
    return !sc_contexts_is_quiet(stream->context) &&
           says_complete(sc_real.cuEventQuery(mark_at(&stream->marks, position)->event));
}

/* Asks the driver which marks have occurred, and notes all operations before the last of them as
 * complete. */
void sc_marks_poll_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_relaxed relaxed = sc_relaxed_begin();
    pop_known(stream);
    unsigned complete = sc_frontier(stream->marks.count, is_mark_complete, stream);
    uint64_t number = complete ? mark_at(&stream->marks, complete - 1)->number : 0;
    for (; complete && !sc_contexts_is_quiet(stream->context); complete--)
        pop_mark(stream);
    sc_relaxed_end(&relaxed);
    if (number)
        sc_track_note_complete(&sc_track, stream->id, number);
}

/* Is it an error after which the context is unusable? Then every call in the context returns the
 * same error, and nothing of the context runs any more. After other errors work in flight goes on.
 */
static bool is_lost(CUresult answer)
{
    switch ((int)answer) { /* also errors that older headers do not name */
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case 226: /* CONTAINED */
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case 721: /* TENSOR_MEMORY_LEAK */
    case CUDA_ERROR_EXTERNAL_DEVICE:
        return true;
    default:
        return false;
    }
}

/* Records the event after the stream's work. */
static CUresult record_event_behind(struct sc_stream_record *stream, CUevent event)
{
    CUstream marker = NULL;
    CUresult result = stream_to_record_on(stream, &marker);
    return result == CUDA_SUCCESS ? sc_real.cuEventRecord(event, marker) : result;
}

static void forget_tail(struct sc_stream_marks *marks)
{
    atomic_store_explicit(&marks->tail_ticks, 0, memory_order_relaxed);
}

/* Does an event that is recorded on the stream come before the stream's later work? That is not
 * promised if the legacy stream or the context may hold the stream up (docs/driver.md, Q25). */
static bool is_in_order(const struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_NONBLOCKING && !sc_unfinished_gate_ticks(stream->context);
}

/* Stores the newest mark. If another thread has issued something meanwhile, a signal of that work
 * may come before the mark, so `leads` is not set. */
static void set_newest(struct sc_stream_record *stream, CUevent event, uint64_t number)
{
    struct sc_stream_marks *marks = &stream->marks;
    *newest_mark(marks) = (struct sc_mark){
        .event = event,
        .number = number,
        .loose = atomic_load_explicit(&marks->loose, memory_order_relaxed),
        .leads = is_in_order(stream) && sc_track_issued(&sc_track, stream->id) == number,
    };
    atomic_store_explicit(&marks->marked, number, memory_order_relaxed);
    forget_tail(marks);
}

/* Maps a ring four times as long, up to SC_MARKS_MAX, and moves the marks there. Returns false if
 * the ring stays. */
static bool grow_ring(struct sc_stream_marks *marks)
{
    unsigned room = ring_room(marks) * 4;
    SC_ASSERT(marks->count == ring_room(marks));
    struct sc_mark *ring = room <= SC_MARKS_MAX ? sc_pages_map(room * sizeof *ring) : NULL;
    if (!ring)
        return false;
    for (unsigned i = 0; i < marks->count; i++)
        ring[i] = *mark_at(marks, i);
    sc_pages_unmap(marks->more, marks->more_room * sizeof *marks->more);
    marks->more = ring;
    marks->more_room = room;
    marks->first = 0;
    return true;
}

/* Is there no room for another mark? */
static bool is_ring_full(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_stream_marks *marks = &stream->marks;
    if (marks->count < ring_room(marks))
        return false;
    sc_marks_poll_locked(stream);
    return marks->count == ring_room(marks) && !grow_ring(marks);
}

/* Records a mark after the stream's work, and so before all later work, also before a later wait.
 * Pre: the stream's context is current. Only if the longest ring is full of marks that have not
 * occurred, its newest mark is recorded again, after the newest operation. */
static void record_mark_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    SC_TRACE("mark stream issued", stream->id, sc_track_issued(&sc_track, stream->id));
    uint64_t number = sc_track_issued(&sc_track, stream->id);
    CUevent event = NULL;
    if (!stream->marks.spare_count)
        pop_known(stream);
    bool full = is_ring_full(stream);
    if (full)
        event = newest_mark(&stream->marks)->event;
    CUresult result = full ? CUDA_SUCCESS : obtain_event(stream, &event);
    if (result == CUDA_SUCCESS)
        result = record_event_behind(stream, event);
    if (result == CUDA_SUCCESS) {
        stream->marks.count += !full;
        set_newest(stream, event, number);
        SC_CHECK_OF(stream->marks.count, check_marks(stream));
        return;
    }
    if (event && !full)
        keep_event(stream, event);
    if (is_lost(result))
        sc_track_note_complete(&sc_track, stream->id, number);
}

CUevent sc_marks_newest_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    return stream->marks.count ? newest_mark(&stream->marks)->event : NULL;
}

/* Records a mark after the stream's work; for the legacy stream on the marker stream, which a
 * capture by a blocking stream does not block. If the legacy stream captures itself, no mark is
 * recorded: its earlier work has marks. */
void sc_marks_add_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (!is_unmarked(stream) || !thread_can_name(stream) || !sc_contexts_push(stream->context))
        return;
    if (!sc_streams_is_captured(stream))
        record_mark_locked(stream);
    sc_contexts_pop();
}

/* Records a mark, on a thread that is issuing work on the stream. To record an event needs no
 * current context (docs/driver.md, Q16); to make an event, and the marker stream, does. */
static void add_mark_at_work(struct sc_stream_record *stream)
{
    pthread_mutex_lock(&stream->lock);
    bool adds = is_unmarked(stream) && thread_can_name(stream);
    if (adds && !stream->marks.spare_count)
        pop_known(stream);
    if (adds && (stream->kind != SC_STREAM_NONBLOCKING || !stream->marks.spare_count))
        sc_marks_add_locked(stream);
    else if (adds && !atomic_load_explicit(&stream->context->gone, memory_order_acquire) &&
             !sc_contexts_is_quiet(stream->context) && !sc_streams_is_captured(stream))
        record_mark_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

/* Records a mark on a stream of `context`; on a stream of one of its green contexts only if no
 * other thread may be ending that one. */
static void add_mark_unless_quiet(void *context, struct sc_stream_record *stream)
{
    pthread_mutex_lock(&stream->lock);
    if (stream->context == context || !sc_contexts_is_quiet(stream->context))
        sc_marks_add_locked(stream);
    pthread_mutex_unlock(&stream->lock);
}

void sc_marks_add_all(struct sc_context *context)
{
    sc_streams_each(context, add_mark_unless_quiet, context);
}

void sc_marks_add_family(struct sc_context *context)
{
    sc_streams_each_ever(context, add_mark_unless_quiet, context);
}

/* Returns how long after a mark the next one may be recorded. While many threads wait for the
 * driver, to record a mark takes as long as their copies. So marks take at most an eighth of the
 * time; but one in a millisecond is always recorded. */
static uint64_t mark_interval(const struct sc_stream_record *stream, bool snapshotted)
{
    uint64_t least = stream->marks.took_ticks * TIME_SHARE;
    if (snapshotted || least > snapshotted_mark_interval_ticks)
        return snapshotted_mark_interval_ticks;
    return least > mark_interval_ticks ? least : mark_interval_ticks;
}

/* Notes an operation whose completion has to be seen. Records a mark (an event of the library's)
 * after it if the operation is large, if the last mark is old, or if the stream is a thread's
 * default stream; else a later mark will do. */
void sc_marks_issued(struct sc_stream_record *stream, size_t size_bytes, bool snapshotted,
                     uint64_t now_ticks)
{
    uint64_t number = sc_stream_front_issued(stream->front);
    atomic_store_explicit(&stream->marks.owed, number, memory_order_relaxed);
    if (!snapshotted)
        atomic_store_explicit(&stream->marks.needed, number, memory_order_relaxed);
    if (size_bytes < MARK_BYTES_MIN && !stream->owner &&
        now_ticks - stream->marks.marked_ticks < mark_interval(stream, snapshotted))
        return;
    uint64_t before = sc_ticks();
    stream->marks.marked_ticks = now_ticks;
    add_mark_at_work(stream);
    stream->marks.took_ticks = sc_ticks() - before;
}

void sc_marks_issued_alone(struct sc_stream_record *stream, uint64_t now_ticks)
{
    sc_marks_issued(stream, MARK_BYTES_MIN, /*snapshotted=*/false, now_ticks);
}

static bool is_after_marks(const struct sc_stream_marks *marks, const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed) >
           atomic_load_explicit(&marks->marked, memory_order_relaxed);
}

void sc_marks_issued_on_device(struct sc_stream_record *stream, uint64_t number)
{
    atomic_store_explicit(&stream->marks.of_device, number, memory_order_relaxed);
}

/* Does an operation need a mark before such other work? Which ones do is said with enum sc_before.
 */
static bool needs_mark(const struct sc_stream_marks *marks, enum sc_before what)
{
    return is_after_marks(marks, what == SC_BEFORE_DEVICE_WORK ? &marks->needed : &marks->owed) ||
           (what == SC_BEFORE_SIGNAL && is_after_marks(marks, &marks->of_device));
}

/* May a mark come after something for which the legacy stream does not wait? The mark's stream may
 * wait for an event that the legacy stream does not wait for, perhaps for what the program does
 * when it has learnt of the legacy stream's work. */
static bool may_await(const struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_LEGACY)
        return atomic_load(&stream->context->marks.awaits);
    return atomic_load(&stream->marks.awaits) ||
           sc_track_find_unseen_before(&sc_track, stream->id, NULL).waits != 0;
}

/* Orders later work of `before` after the stream's newest mark, unless the mark leads already
 * (comes before signals). Not if something was issued after the mark, since an earlier signal may
 * have come before it. */
static void wait_for_newest(struct sc_stream_record *stream, const struct sc_stream_record *before)
{
    pthread_mutex_lock(&stream->lock);
    struct sc_mark *mark = stream->marks.count ? newest_mark(&stream->marks) : NULL;
    bool waits = before->kind != SC_STREAM_LEGACY || !may_await(stream);
    if (mark && waits && !mark->leads && !is_unmarked(stream) &&
        !sc_contexts_is_quiet(stream->context))
        mark->leads = sc_real.cuStreamWaitEvent(before->handle, mark->event, 0) == CUDA_SUCCESS;
    pthread_mutex_unlock(&stream->lock);
}

void sc_marks_cover(struct sc_stream_record *stream)
{
    if (needs_mark(&stream->marks, SC_BEFORE_SIGNAL))
        add_mark_at_work(stream);
}

/* Records a mark, and orders a signal on the stream `signal` after it. (When a missed call is
 * noted, the mark would come after the signal, so nothing is recorded.) */
static void order_signal(struct sc_stream_record *stream, const struct sc_stream_record *signal)
{
    if (sc_replaying_follows())
        return;
    sc_marks_cover(stream);
    if (stream != signal || !is_in_order(stream))
        wait_for_newest(stream, signal);
}

/* Adds a mark to a blocking stream: a signal of the legacy stream tells of its work as well. */
static void cover_blocking(void *legacy, struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_BLOCKING && !sc_streams_is_capturing(stream))
        order_signal(stream, legacy);
}

void sc_marks_note_tail_of_thread(struct sc_stream_record *stream)
{
    atomic_store_explicit(&stream->marks.tail_ticks, sc_ticks_not_early(), memory_order_relaxed);
}

/* Records, before other work, the mark that earlier operations still need, if a mark after that
 * work would be too late. */
void sc_marks_before_work(struct sc_stream_record *stream, enum sc_before what)
{
    struct sc_stream_marks *marks = &stream->marks;
    if (what == SC_BEFORE_SIGNAL) {
        order_signal(stream, stream);
        if (stream->kind == SC_STREAM_LEGACY)
            sc_streams_each(stream->context, cover_blocking, stream);
    } else if (sc_unlikely(needs_mark(marks, what))) {
        add_mark_at_work(stream);
    } else if (is_after_marks(marks, &marks->owed)) {
        /* The work will stand between these operations and their mark. */
        uint64_t owed = atomic_load_explicit(&marks->owed, memory_order_relaxed);
        atomic_store_explicit(&marks->loose, owed, memory_order_relaxed);
    }
    sc_marks_note_tail(stream);
}

/* ---- fences ---- */

/* Clears the time of unmarked work on the thread's default stream if the stream is idle. Another
 * thread could record no fence there. */
static void forget_tail_if_idle(struct sc_stream_record *stream)
{
    struct sc_relaxed relaxed = sc_relaxed_begin();
    if (stream->owner && sc_real.cuStreamQuery(stream->handle) == CUDA_SUCCESS)
        forget_tail(&stream->marks);
    sc_relaxed_end(&relaxed);
}

bool sc_marks_is_fenced(const struct sc_stream_record *stream)
{
    return sc_track_is_tied(&sc_track, stream->id, SC_TIE_DUE);
}

/* Records the fence: the event that shows when a blocking stream's work is done, even when the
 * stream cannot be named any more. */
void sc_marks_fence_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    CUevent *fence = &stream->marks.fence;
    if (stream->kind != SC_STREAM_BLOCKING || stream->gone || !sc_contexts_push(stream->context))
        return;
    if (!*fence && new_event(fence) != CUDA_SUCCESS)
        *fence = NULL;
    if (sc_marks_is_fenced(stream))
        forget_tail_if_idle(stream);
    else if (*fence && sc_real.cuEventRecord(*fence, stream->handle) == CUDA_SUCCESS)
        forget_tail(&stream->marks);
    sc_contexts_pop();
}

/* Orders the context's marker stream after the stream, which the program is about to destroy, so
 * that the end of its work can still be seen. */
void sc_marks_outlive_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (stream->kind != SC_STREAM_BLOCKING || !thread_can_name(stream) ||
        sc_streams_is_capturing(stream) || !sc_contexts_push(stream->context))
        return;
    struct sc_relaxed relaxed = sc_relaxed_begin();
    if (may_await(stream))
        atomic_store(&stream->context->marks.awaits, true);
    CUstream marker = sc_marks_marker(stream->context);
    bool fenced = sc_marks_is_fenced(stream);
    CUevent fence = stream->marks.fence;
    CUevent event = marker && !fenced ? take_event(stream) : NULL;
    if (event && sc_real.cuEventRecord(event, stream->handle) == CUDA_SUCCESS)
        sc_real.cuStreamWaitEvent(marker, event, 0);
    if (marker && fenced && fence)
        sc_real.cuStreamWaitEvent(marker, fence, 0);
    atomic_store_explicit(&stream->context->marks.outlived_ticks, sc_unfinished_now(stream),
                          memory_order_relaxed);
    if (event)
        keep_event(stream, event);
    sc_relaxed_end(&relaxed);
    sc_contexts_pop();
}

static _Atomic uint64_t taken_early;

uint64_t sc_marks_taken_early(void)
{
    return atomic_load_explicit(&taken_early, memory_order_relaxed);
}

static void count_taken_early(struct sc_stream_record *stream)
{
    sc_unfinished_queued(stream, sc_ticks());
    atomic_fetch_add_explicit(&taken_early, 1, memory_order_relaxed);
}

/* Makes the stream wait for an event of its own: the driver does not read sources of work after
 * that wait before it is reached. */
void sc_marks_wait_for_itself(struct sc_stream_record *stream)
{
    bool waits = false;
    pthread_mutex_lock(&stream->lock);
    if (thread_can_name(stream) && !sc_contexts_is_quiet(stream->context) &&
        !sc_streams_is_capturing(stream) && sc_contexts_push(stream->context)) {
        struct sc_relaxed relaxed = sc_relaxed_begin();
        CUevent event = take_event(stream);
        waits = event && sc_real.cuEventRecord(event, stream->handle) == CUDA_SUCCESS &&
                sc_real.cuStreamWaitEvent(stream->handle, event, 0) == CUDA_SUCCESS;
        if (waits)
            count_taken_early(stream);
        if (event)
            keep_event(stream, event);
        sc_relaxed_end(&relaxed);
        sc_contexts_pop();
    }
    pthread_mutex_unlock(&stream->lock);
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS,
                       SC_NO_VERDICT_TAKEN_EARLY, !waits);
}

/* Is a mark after the operation of this number? */
static bool is_covered(struct sc_stream_record *stream, uint64_t number)
{
    return stream->marks.count && newest_mark(&stream->marks)->number >= number;
}

/* Has the operation been seen complete? Records a mark after it if there is none, and asks the
 * driver. True also if the stream is destroyed. */
bool sc_marks_show_complete(const struct sc_ticket *ticket)
{
    if (sc_track_is_complete(&sc_track, ticket))
        return true;
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    if (!stream)
        return true;
    pthread_mutex_lock(&stream->lock);
    if (stream->id == ticket->stream && !sc_contexts_is_quiet(stream->context)) { /* or recycled */
        if (!is_covered(stream, ticket->number))
            sc_marks_add_locked(stream);
        sc_marks_poll_locked(stream);
    }
    pthread_mutex_unlock(&stream->lock);
    return sc_track_is_complete(&sc_track, ticket);
}

static void sleep_for(uint64_t ns)
{
    const struct timespec time = {.tv_nsec = (long)ns};
    sc_kernel_call(SYS_nanosleep, &time, NULL);
}

/* Asks with growing pauses until the operation is complete. Returns false if it was not by the
 * deadline. */
bool sc_marks_await(const struct sc_ticket *ticket, uint64_t deadline_ns)
{
    uint64_t poll_ns = POLL_MIN_NS;
    while (!sc_marks_show_complete(ticket)) {
        if (sc_now_ns() >= deadline_ns)
            return false;
        sleep_for(poll_ns);
        poll_ns = poll_ns * 5 / 4 < POLL_MAX_NS ? poll_ns * 5 / 4 : POLL_MAX_NS;
    }
    return true;
}

/* Is there a mark directly after the operation? True also if there is no mark after it: then it is
 * complete, or its stream is destroyed. */
static bool stands_close_locked(struct sc_stream_record *stream, const struct sc_ticket *ticket)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    for (unsigned i = 0; i < stream->marks.count; i++) {
        const struct sc_mark *mark = mark_at(&stream->marks, i);
        if (mark->number >= ticket->number)
            return mark->loose < ticket->number;
    }
    return true;
}

/* Is there a mark so close after the operation that it tells whether the operation is complete? */
bool sc_marks_stand_close(const struct sc_ticket *ticket)
{
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    if (!stream)
        return true;
    pthread_mutex_lock(&stream->lock);
    bool close = stream->id != ticket->stream || stands_close_locked(stream, ticket);
    pthread_mutex_unlock(&stream->lock);
    return close;
}

/* Returns a mark that leads (comes before signals), with a number from `first` to `last`, or NULL
 * if there is none. */
static struct sc_mark *leading_mark(struct sc_stream_marks *marks, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < marks->count; i++) {
        struct sc_mark *mark = mark_at(marks, i);
        if (mark->leads && mark->number >= first && mark->number <= last)
            return mark;
    }
    return NULL;
}

/* Asks the driver about the mark itself. If the question is refused, nothing is shown. */
bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last)
{
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    bool shown = false;
    if (!stream)
        return false;
    pthread_mutex_lock(&stream->lock);
    if (stream->id == ticket->stream && !sc_contexts_is_quiet(stream->context)) {
        struct sc_relaxed relaxed = sc_relaxed_begin();
        struct sc_mark *mark = leading_mark(&stream->marks, ticket->number, last);
        shown = mark && sc_real.cuEventQuery(mark->event) == CUDA_ERROR_NOT_READY;
        sc_relaxed_end(&relaxed);
    }
    pthread_mutex_unlock(&stream->lock);
    return shown;
}

/* Returns the event of the first mark after the operation, recorded now if there is none, or NULL
 * if that is not possible. */
static CUevent event_behind_locked(struct sc_stream_record *stream, const struct sc_ticket *ticket)
    SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    uint64_t number = ticket->number;
    if (stream->id != ticket->stream || sc_contexts_is_quiet(stream->context))
        return NULL;
    if (!is_covered(stream, number))
        sc_marks_add_locked(stream);
    for (unsigned i = 0; i < stream->marks.count; i++)
        if (mark_at(&stream->marks, i)->number >= number)
            return mark_at(&stream->marks, i)->event;
    return NULL;
}

/* Makes the stream wait for the operation, by a mark after it. Never if the operation comes after a
 * wait for a value or a semaphore: that wait may be for work that is issued now, and both would
 * wait for ever. */
static bool wait_for_mark(struct sc_stream_record *stream, struct sc_stream_record *earlier,
                          const struct sc_ticket *ticket, sc_marks_wait *wait, void *context)
{
    bool ordered = false;
    if (sc_track_find_unseen_before(&sc_track, earlier->id, NULL).waits != 0)
        return false;
    pthread_mutex_lock(&earlier->lock);
    CUevent event = event_behind_locked(earlier, ticket);
    if (!event) /* complete operations have no mark left */
        ordered = sc_track_is_complete(&sc_track, ticket);
    else
        ordered = wait(context, stream->handle, event);
    pthread_mutex_unlock(&earlier->lock);
    if (ordered && event) {
        sc_marks_note_wait(stream);
        sc_unfinished_written(stream);
    }
    return ordered;
}

/* Makes the stream wait for the operation, by a mark after it and the caller's function. If the
 * operation's stream has no record it is destroyed, and all its operations are complete. */
bool sc_marks_order_by(struct sc_stream_record *stream, const struct sc_ticket *ticket,
                       sc_marks_wait *wait, void *context)
{
    struct sc_stream_record *earlier = sc_streams_of_id(ticket->stream);
    bool ordered = earlier ? wait_for_mark(stream, earlier, ticket, wait, context)
                           : sc_track_is_complete(&sc_track, ticket);
    if (ordered)
        SC_TRACKED(sc_order_note_edge(track.order, stream->id, ticket));
    return ordered;
}

static bool wait_plainly(void *unused, CUstream stream, CUevent event)
{
    (void)unused;
    return sc_real.cuStreamWaitEvent(stream, event, 0) == CUDA_SUCCESS;
}

bool sc_marks_order_after(struct sc_stream_record *stream, const struct sc_ticket *ticket)
{
    return sc_marks_order_by(stream, ticket, wait_plainly, NULL);
}
