#include "interpose/streams/marks.h"

#include <time.h>
#include <unistd.h>

#include "common/brief_lock.h"
#include "common/checks.h"
#include "common/kernel.h"
#include "common/mutex.h"
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

/* When a mark is due: an event of the library's behind operations, by which it learns that they are
 * complete. A copy whose source was copied first (a snapshot) keeps nobody waiting: its mark only
 * gives memory back, and tells how sure a hazard is, so it may come later. */
enum {
    MARK_BYTES_MIN = 256 * 1024,
    MARK_INTERVAL_NS = 100 * 1000,
    SNAPSHOTTED_MARK_INTERVAL_NS = 1000 * 1000,
    TIME_SHARE = 8, /* marks take at most one part of so many of the time */
};

static uint64_t mark_interval_ticks;
static uint64_t snapshotted_mark_interval_ticks;

/* Called once, before other functions here: converts intervals into ticks of the processor's
 * counter. */
void sc_marks_start(void)
{
    sc_ticks_start();
    mark_interval_ticks = sc_ticks_in_ns(MARK_INTERVAL_NS);
    snapshotted_mark_interval_ticks = sc_ticks_in_ns(SNAPSHOTTED_MARK_INTERVAL_NS);
}

/* ---- what the driver makes ---- */

/* Streams are created on a stack with room for the driver (sc_library_threads_call). */
struct creation {
    CUstream stream;
    CUresult result;
};

/* Creates a blocking stream; called where the stack has room for the driver. */
static void create_stream(void *argument)
{
    struct creation *creation = argument;
    creation->result = sc_real.cuStreamCreate(&creation->stream, CU_STREAM_DEFAULT);
}

/* Creates an event without times, which is the quickest kind. No cancellation point, since the
 * program's call may be none. */
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

/* Takes an unused event of the stream or of the context, or makes one, for a mark (an event behind
 * operations). Returns the driver's answer; the event is valid only after success. Pre: the context
 * is current. To keep events saves two driver calls for each mark. */
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

/* Takes an unused event, or makes one; NULL: the driver refuses. */
static CUevent take_event_or_null(struct sc_stream_record *stream)
{
    CUevent event = NULL;
    return obtain_event(stream, &event) == CUDA_SUCCESS ? event : NULL;
}

enum { SPARE_EVENTS_BYTES = SC_SPARE_EVENTS_MAX * sizeof(CUevent) };

/* Keeps an unused event for the context's next marks. The list is mapped with the first event, and
 * unmapped when the context ends (sc_marks_context_gone). Returns false if there is no room, or the
 * context has ended. */
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

/* Destroys the event, unless it has ended with its context: the driver may have given the handle
 * again. */
static void destroy_event(const struct sc_context *context, CUevent event)
{
    if (!sc_contexts_events_are_dead(context))
        sc_real.cuEventDestroy_v2(event);
}

/* Keeps an unused event for any stream of the context; destroys it if there is no room. */
static void keep_in_context(struct sc_context *context, CUevent event)
{
    SC_ASSERT(event != NULL);
    if (!keep_spare_event(context, event))
        destroy_event(context, event);
}

/* Keeps an unused event for the stream's next marks, or, if the stream has enough, for the
 * context's. So threads with streams of their own do not compete for the context's lock. */
static void keep_event(struct sc_stream_record *stream, CUevent event)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_stream_marks *marks = &stream->marks;
    if (marks->spare_count < SC_MARKS_SPARE)
        marks->spare[marks->spare_count++] = event;
    else
        keep_in_context(stream->context, event);
}

/* Called when the context has ended: destroys its unused events, as far as they have not ended with
 * it, and frees the list. */
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

/* Returns how many marks (events of the library's) the stream's ring has room for: in the record
 * itself, or in a longer ring of its own. */
static unsigned ring_room(const struct sc_stream_marks *marks)
{
    return marks->more ? marks->more_room : SC_MARKS_FEW;
}

/* Returns the stream's mark (an event of the library's) at this position, the oldest at 0. */
static struct sc_mark *mark_at(struct sc_stream_marks *marks, unsigned position)
{
    struct sc_mark *ring = marks->more ? marks->more : marks->few;
    return &ring[(marks->first + position) % ring_room(marks)];
}

/* For debug builds: the ring has no more marks than room, each has an event, and their operations'
 * numbers ascend. */
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

/* Was an operation issued on the stream that no mark (an event of the library's) comes after? Told
 * by the operations' numbers: one that another thread issues while a mark is recorded is not before
 * that mark. */
static bool is_unmarked(const struct sc_stream_record *stream)
{
    return sc_track_issued(&sc_track, stream->id) >
           atomic_load_explicit(&stream->marks.marked, memory_order_relaxed);
}

/* Finds the context's marker stream: a blocking stream of the library's on which an event comes
 * after the legacy stream's work. It is made when it is first needed. If two threads make it at
 * once, the second destroys its own. Returns the driver's answer. */
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

/* Returns the time of the latest work that an event on the marker stream would come after: the
 * legacy stream's, or that of a blocking stream which was destroyed. */
uint64_t sc_marks_marker_ticks(struct sc_context *context)
{
    uint64_t legacy = sc_unfinished_legacy_ticks(context);
    uint64_t outlived = atomic_load_explicit(&context->marks.outlived_ticks, memory_order_relaxed);
    return legacy > outlived ? legacy : outlived;
}

/* Finds the stream on which an event has to be recorded to come after this stream's work: itself,
 * or for a legacy stream the marker stream, which delays nothing (docs/driver.md, Q24). */
static CUresult stream_to_record_on(struct sc_stream_record *stream, CUstream *marker)
{
    *marker = stream->handle;
    return stream->kind == SC_STREAM_LEGACY ? make_marker(stream->context, marker) : CUDA_SUCCESS;
}

/* Can this thread record an event on the stream? Not if the stream is destroyed. On another thread
 * the handle of a per-thread default stream means another stream. */
static bool thread_can_name(const struct sc_stream_record *stream)
{
    return !sc_stream_is_gone(stream) && (!stream->owner || stream->owner == sc_thread_id());
}

/* Removes the stream's oldest mark, which has occurred or is needed no more, and keeps its
 * event. */
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

/* Removes the marks of operations that the host knows to be done, so that their events can be used
 * again without a question to the driver. Not in a context that may be ending (quiet). */
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

/* Called when nothing refers to an ended stream any more: keeps the events of its marks for the
 * context. If the context has ended, so have the events, and only the record is cleared. */
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

/* Clears the marks (events of the library's) of a record that is used again for another stream. A
 * longer ring is kept, and numbers go on: operations up to here need no mark. */
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

/* Does the driver's answer about an event say that the work before it is complete? An error does,
 * too: in a broken context nothing runs any more. But one that only refuses the question does not,
 * as within a host function or a capture. */
static bool says_complete(CUresult answer)
{
    return answer != CUDA_ERROR_NOT_READY && answer != CUDA_ERROR_NOT_PERMITTED &&
           !sc_driver_is_capture_error(answer);
}

/* For sc_frontier: has the mark (an event of the library's) at this position occurred? False in a
 * context that may be ending (quiet), in which the driver is not asked. */
static bool is_mark_complete(void *argument, unsigned position)
{
    struct sc_stream_record *stream = argument;
    return !sc_contexts_is_quiet(stream->context) &&
           says_complete(sc_real.cuEventQuery(mark_at(&stream->marks, position)->event));
}

/* Asks the driver which marks (events behind operations) have occurred, and notes all operations
 * before the last of them as complete. Few are asked about, since marks occur in order. The capture
 * mode is relaxed, as a query would break a capture. */
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

/* Is it an error after which nothing of the context runs any more, and every call returns it? After
 * other errors work in flight goes on. */
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

/* Records the event after the stream's work, on the stream itself or on the marker stream. Returns
 * the driver's answer. */
static CUresult record_event_behind(struct sc_stream_record *stream, CUevent event)
{
    CUstream marker = NULL;
    CUresult result = stream_to_record_on(stream, &marker);
    return result == CUDA_SUCCESS ? sc_real.cuEventRecord(event, marker) : result;
}

/* Notes that no work is left on the stream that no event comes after. */
static void forget_tail(struct sc_stream_marks *marks)
{
    atomic_store_explicit(&marks->tail_ticks, 0, memory_order_relaxed);
}

/* Does an event that is recorded on the stream come before the stream's later work? That is not
 * promised if the legacy stream, or a wait of the whole context, may hold the stream up
 * (docs/driver.md, Q25). */
static bool is_in_order(const struct sc_stream_record *stream)
{
    return stream->kind == SC_STREAM_NONBLOCKING && !sc_unfinished_gate_ticks(stream->context);
}

/* Stores the newest mark (an event of the library's), for operations up to `number`. It `leads` if
 * it comes before anything by which the host may learn of these operations. Not if another thread
 * has issued something meanwhile, which may tell the host before the mark. */
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

/* Gives the stream a ring with room for four times as many marks (events of the library's), up to
 * SC_MARKS_MAX. Returns false if the ring stays as it is. */
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

/* Makes room for another mark (an event of the library's) if the ring is full: removes those that
 * have occurred, or lets the ring grow. Returns true if it stays full. */
static bool ring_stays_full(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    struct sc_stream_marks *marks = &stream->marks;
    if (marks->count < ring_room(marks))
        return false;
    sc_marks_poll_locked(stream);
    return marks->count == ring_room(marks) && !grow_ring(marks);
}

/* Records a mark (an event of the library's) after the stream's work, and so before all later work,
 * also before a later wait. Pre: the stream's context is current. If the ring is full of marks that
 * have not occurred, the newest one is recorded again, after the newest operation. If the context
 * turns out to be lost, what was issued is complete. */
static void record_mark_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    SC_TRACE("mark stream issued", stream->id, sc_track_issued(&sc_track, stream->id));
    uint64_t number = sc_track_issued(&sc_track, stream->id);
    CUevent event = NULL;
    if (!stream->marks.spare_count)
        pop_known(stream);
    bool full = ring_stays_full(stream);
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

/* Records a mark (an event of the library's) after the stream's work, unless there is one. Not if
 * this thread cannot name the stream, or the context has ended. Not if the stream's work becomes
 * nodes of a graph: then its earlier work has marks. */
void sc_marks_add_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    if (!is_unmarked(stream) || !thread_can_name(stream) || !sc_contexts_push(stream->context))
        return;
    if (!sc_streams_is_captured(stream))
        record_mark_locked(stream);
    sc_contexts_pop();
}

/* Records a mark on a thread that is issuing work on the stream, so that its context is mostly
 * current. To record an event needs no current context (docs/driver.md, Q16); to make one, or the
 * marker stream, does, and takes the longer way. */
static void add_mark_at_work(struct sc_stream_record *stream)
{
    sc_mutex_lock(&stream->lock);
    bool adds = is_unmarked(stream) && thread_can_name(stream);
    if (adds && !stream->marks.spare_count)
        pop_known(stream);
    if (adds && (stream->kind != SC_STREAM_NONBLOCKING || !stream->marks.spare_count))
        sc_marks_add_locked(stream);
    else if (adds && !atomic_load_explicit(&stream->context->gone, memory_order_acquire) &&
             !sc_contexts_is_quiet(stream->context) && !sc_streams_is_captured(stream))
        record_mark_locked(stream);
    sc_mutex_unlock(&stream->lock);
}

/* For walks over the streams of `context`: records a mark. Another thread may be ending a green
 * context of it (quiet), and must not find an event recorded there. */
static void add_mark_unless_quiet(void *context, struct sc_stream_record *stream)
{
    sc_mutex_lock(&stream->lock);
    if (stream->context == context || !sc_contexts_is_quiet(stream->context))
        sc_marks_add_locked(stream);
    sc_mutex_unlock(&stream->lock);
}

void sc_marks_add_all(struct sc_context *context)
{
    sc_streams_each(context, add_mark_unless_quiet, context);
}

void sc_marks_add_family(struct sc_context *context)
{
    sc_streams_each_ever(context, add_mark_unless_quiet, context);
}

/* Returns how long after a stream's last mark (an event of the library's) the next one is due.
 * While many threads wait for the driver, to record one takes as long as their copies, so marks
 * take at most an eighth of the time. One in a millisecond is always recorded, which is enough
 * where sources were copied first (`snapshotted`). */
static uint64_t mark_interval(const struct sc_stream_record *stream, bool snapshotted)
{
    uint64_t least = stream->marks.took_ticks * TIME_SHARE;
    if (snapshotted || least > snapshotted_mark_interval_ticks)
        return snapshotted_mark_interval_ticks;
    return least > mark_interval_ticks ? least : mark_interval_ticks;
}

/* Called when an operation was issued whose end has to be seen: records a mark (an event of the
 * library's) after it if it is large, if the last mark is old, or on a thread's default stream,
 * which no other thread could mark. Else a later mark will do. */
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

/* Was the operation of this number issued after the stream's last mark (an event of the
 * library's)? */
static bool is_after_marks(const struct sc_stream_marks *marks, const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed) >
           atomic_load_explicit(&marks->marked, memory_order_relaxed);
}

void sc_marks_issued_on_device(struct sc_stream_record *stream, uint64_t number)
{
    atomic_store_explicit(&stream->marks.of_device, number, memory_order_relaxed);
}

/* Do operations of the stream need a mark (an event of the library's) before such other work?
 * Before device work, only those whose source was not copied first (`needed`). Before a signal, by
 * which the host may learn of them, all do, also those on device memory. */
static bool needs_mark(const struct sc_stream_marks *marks, enum sc_before what)
{
    return is_after_marks(marks, what == SC_BEFORE_DEVICE_WORK ? &marks->needed : &marks->owed) ||
           (what == SC_BEFORE_SIGNAL && is_after_marks(marks, &marks->of_device));
}

/* May a mark on the stream come after something for which the legacy stream does not wait, such as
 * an event? Then the legacy stream must not wait for that mark: the event may be for what the
 * program does when it has learnt of the legacy stream's work. */
static bool may_await(const struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_LEGACY)
        return atomic_load(&stream->context->marks.awaits);
    return atomic_load(&stream->marks.awaits) ||
           sc_track_find_unseen_before(&sc_track, stream->id, NULL).waits != 0;
}

/* Makes later work of `before`, a signal to the host, wait for the stream's newest mark (an event
 * of the library's), so that the mark tells what was done at the signal. Not needed if the mark
 * `leads` (comes first) already. No use if something was issued after the mark: an earlier signal
 * may have come before it. */
static void wait_for_newest(struct sc_stream_record *stream, const struct sc_stream_record *before)
{
    sc_mutex_lock(&stream->lock);
    struct sc_mark *mark = stream->marks.count ? newest_mark(&stream->marks) : NULL;
    bool waits = before->kind != SC_STREAM_LEGACY || !may_await(stream);
    if (mark && waits && !mark->leads && !is_unmarked(stream) &&
        !sc_contexts_is_quiet(stream->context))
        mark->leads = sc_real.cuStreamWaitEvent(before->handle, mark->event, 0) == CUDA_SUCCESS;
    sc_mutex_unlock(&stream->lock);
}

void sc_marks_cover(struct sc_stream_record *stream)
{
    if (needs_mark(&stream->marks, SC_BEFORE_SIGNAL))
        add_mark_at_work(stream);
}

/* Records a mark (an event of the library's) after the stream's operations, and orders a signal on
 * the stream `signal` after it: the host may learn by the signal that they are done. Not after a
 * missed call (a replay), since the mark would come after the signal. */
static void order_signal(struct sc_stream_record *stream, const struct sc_stream_record *signal)
{
    if (sc_replaying_follows())
        return;
    sc_marks_cover(stream);
    if (stream != signal || !is_in_order(stream))
        wait_for_newest(stream, signal);
}

/* For the walk before a signal of the legacy stream: it tells of the work of each blocking stream
 * as well, so that needs a mark (an event of the library's) before the signal. A stream that
 * captures has none. */
static void cover_blocking(void *legacy, struct sc_stream_record *stream)
{
    if (stream->kind == SC_STREAM_BLOCKING && !sc_streams_is_capturing(stream))
        order_signal(stream, legacy);
}

/* Notes when work without a mark (an event of the library's) was last issued on a thread's default
 * stream (its tail): other threads cannot ask about it, and by this time know that there is
 * some. */
void sc_marks_note_tail_of_thread(struct sc_stream_record *stream)
{
    atomic_store_explicit(&stream->marks.tail_ticks, sc_ticks_not_early(), memory_order_relaxed);
}

/* Called before other work is issued on a stream: records the mark (an event of the library's) that
 * earlier operations still need, if one after that work would be too late. Otherwise notes that
 * their mark will come after other work too (`loose`), so that it tells less about them. A signal,
 * by which the host may learn of them, comes after all marks of its stream; one of the legacy
 * stream after those of the blocking streams, too. */
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

/* Asks the driver whether the thread's default stream is idle. If so, no work on it is left that no
 * event comes after. Another thread could record no event there. */
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

/* Records the fence of a blocking stream: the event that shows when its work up to now is done,
 * also while the stream cannot be named. Not again after the context was told to wait, since that
 * event would come after the wait. */
void sc_marks_fence_locked(struct sc_stream_record *stream) SC_REQUIRES(stream->lock)
{
    SC_ASSERT_HELD(&stream->lock);
    CUevent *fence = &stream->marks.fence;
    if (stream->kind != SC_STREAM_BLOCKING || sc_stream_is_gone(stream) ||
        !sc_contexts_push(stream->context))
        return;
    if (!*fence && new_event(fence) != CUDA_SUCCESS)
        *fence = NULL;
    if (sc_marks_is_fenced(stream))
        forget_tail_if_idle(stream);
    else if (*fence && sc_real.cuEventRecord(*fence, stream->handle) == CUDA_SUCCESS)
        forget_tail(&stream->marks);
    sc_contexts_pop();
}

/* Makes `waiter`, a stream of the same context, wait for the stream's work up to now. Returns false
 * if the driver refuses, or no event is left. */
static bool wait_in_queue(struct sc_stream_record *stream, CUstream waiter)
{
    CUevent event = take_event_or_null(stream);
    bool waits = event && sc_real.cuEventRecord(event, stream->handle) == CUDA_SUCCESS &&
                 sc_real.cuStreamWaitEvent(waiter, event, 0) == CUDA_SUCCESS;
    if (event)
        keep_event(stream, event);
    return waits;
}

/* Called before the program destroys a blocking stream: makes the context's marker stream wait for
 * its work. Events there then still come after that work, as operations of the legacy stream do. */
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
    if (marker && !fenced)
        wait_in_queue(stream, marker);
    if (marker && fenced && fence)
        sc_real.cuStreamWaitEvent(marker, fence, 0);
    atomic_store_explicit(&stream->context->marks.outlived_ticks, sc_unfinished_now(stream),
                          memory_order_relaxed);
    sc_relaxed_end(&relaxed);
    sc_contexts_pop();
}

static _Atomic uint64_t taken_early;

uint64_t sc_marks_taken_early(void)
{
    return atomic_load_explicit(&taken_early, memory_order_relaxed);
}

/* Notes that the stream has a wait in its own queue now, so that the next copy needs no other, and
 * counts it for the report. */
static void count_taken_early(struct sc_stream_record *stream)
{
    sc_unfinished_queued(stream, sc_ticks());
    atomic_fetch_add_explicit(&taken_early, 1, memory_order_relaxed);
}

/* Makes the stream wait for an event of its own. Work that is ordered only by the legacy stream's
 * rules is not in its queue, and the driver would read the next copy's source before that work is
 * done. It does not before a wait is reached. A stream where that is impossible is counted. */
void sc_marks_wait_for_itself(struct sc_stream_record *stream)
{
    bool waits = false;
    sc_mutex_lock(&stream->lock);
    if (thread_can_name(stream) && !sc_contexts_is_quiet(stream->context) &&
        !sc_streams_is_capturing(stream) && sc_contexts_push(stream->context)) {
        struct sc_relaxed relaxed = sc_relaxed_begin();
        waits = wait_in_queue(stream, stream->handle);
        if (waits)
            count_taken_early(stream);
        sc_relaxed_end(&relaxed);
        sc_contexts_pop();
    }
    sc_mutex_unlock(&stream->lock);
    sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_OPERATIONS,
                       SC_NO_VERDICT_TAKEN_EARLY, !waits);
}

/* Does a mark (an event of the library's) come after the operation of this number, so that none has
 * to be recorded? */
static bool is_covered(struct sc_stream_record *stream, uint64_t number)
{
    return stream->marks.count && newest_mark(&stream->marks)->number >= number;
}

/* Asks whether the operation is complete: records a mark after it if there is none, and asks the
 * driver about the stream's marks (events of the library's). True also if the stream is destroyed
 * and forgotten: then all is complete. False if it is not known now. */
bool sc_marks_show_complete(const struct sc_ticket *ticket)
{
    if (sc_track_is_complete(&sc_track, ticket))
        return true;
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    if (!stream)
        return true;
    sc_mutex_lock(&stream->lock);
    if (stream->id == ticket->stream && !sc_contexts_is_quiet(stream->context)) { /* or recycled */
        if (!is_covered(stream, ticket->number))
            sc_marks_add_locked(stream);
        sc_marks_poll_locked(stream);
    }
    sc_mutex_unlock(&stream->lock);
    return sc_track_is_complete(&sc_track, ticket);
}

static void sleep_for(uint64_t ns)
{
    const struct timespec time = {.tv_nsec = (long)ns};
    sc_kernel_call(SYS_nanosleep, &time, NULL);
}

/* Waits until the operation is complete; asks the driver with growing pauses, without the reaper's
 * thread. Returns false if it was not by the deadline. */
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

/* A wait for the streams of a context, one after the other. */
struct context_wait {
    uint64_t deadline_ns;
    bool over; /* all work that was asked about is complete */
};

/* Returns an event that comes after all work of the stream, also after work that is not tracked.
 * NULL: none could be recorded, as where the thread cannot name the stream, or it captures. Stores
 * the stream's context and its last operation. */
static CUevent record_apart(struct sc_stream_record *stream, struct sc_context **context,
                            struct sc_ticket *last)
{
    SC_RELAXED();
    SC_LOCKED(&stream->lock);
    CUevent event = NULL;
    *context = stream->context;
    *last =
        (struct sc_ticket){.stream = stream->id, .number = sc_track_issued(&sc_track, stream->id)};
    if (thread_can_name(stream) && !sc_contexts_is_quiet(stream->context) &&
        !sc_streams_is_captured(stream))
        event = take_event_or_null(stream);
    if (event && record_event_behind(stream, event) != CUDA_SUCCESS) {
        keep_event(stream, event);
        event = NULL;
    }
    return event;
}

/* Gives the event back to the stream, or ends it if the record is another context's by now. */
static void give_event_back(struct sc_stream_record *stream, struct sc_context *context,
                            CUevent event)
{
    SC_LOCKED(&stream->lock);
    if (stream->context == context)
        keep_event(stream, event);
    else
        destroy_event(context, event);
}

/* For a walk over the streams of the current context: waits for all work of this one, or, where no
 * event can be recorded, for its tracked operations. */
static void await_stream(void *argument, struct sc_stream_record *stream)
{
    struct context_wait *wait = argument;
    struct sc_context *context;
    struct sc_ticket last;
    CUevent event = wait->over ? record_apart(stream, &context, &last) : NULL;
    if (!event) {
        wait->over = wait->over && (!last.number || sc_marks_await(&last, wait->deadline_ns));
        return;
    }
    SC_RELAXED();
    while (!(wait->over = says_complete(sc_real.cuEventQuery(event))) &&
           sc_now_ns() < wait->deadline_ns)
        sleep_for(POLL_MIN_NS);
    give_event_back(stream, context, event);
}

bool sc_marks_await_context(struct sc_context *context, uint64_t deadline_ns)
{
    struct context_wait wait = {deadline_ns, true};
    sc_streams_each_ever(context, await_stream, &wait);
    return wait.over;
}

/* Is there no other work between the operation and the first mark (an event of the library's) after
 * it? `loose` is the last operation before a mark that other work follows. True also if there is no
 * mark after it: then the operation is complete, or its stream is destroyed. */
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

/* Does the mark (an event of the library's) after the operation tell about the operation itself? If
 * other work stands in between, that may be what still runs, and the operation must not be called
 * incomplete. True also if the stream is destroyed, or its record another's: then the operation is
 * complete. */
bool sc_marks_stand_close(const struct sc_ticket *ticket)
{
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    if (!stream)
        return true;
    sc_mutex_lock(&stream->lock);
    bool close = stream->id != ticket->stream || stands_close_locked(stream, ticket);
    sc_mutex_unlock(&stream->lock);
    return close;
}

/* Returns a mark (an event of the library's) that comes before all by which the host may have
 * learnt of its operations (`leads`), with a number from `first` to `last`; NULL: there is none. */
static struct sc_mark *leading_mark(struct sc_stream_marks *marks, uint64_t first, uint64_t last)
{
    for (unsigned i = 0; i < marks->count; i++) {
        struct sc_mark *mark = mark_at(marks, i);
        if (mark->leads && mark->number >= first && mark->number <= last)
            return mark;
    }
    return NULL;
}

/* Asks the driver about a mark (an event of the library's) that a signal to the host comes after,
 * of this operation and none after `last`. Only if that mark has not occurred is it certain that
 * the host was not told by the signal. If the question is refused, nothing is shown. */
bool sc_marks_show_incomplete(const struct sc_ticket *ticket, uint64_t last)
{
    struct sc_stream_record *stream = sc_streams_of_id(ticket->stream);
    bool shown = false;
    if (!stream)
        return false;
    sc_mutex_lock(&stream->lock);
    if (stream->id == ticket->stream && !sc_contexts_is_quiet(stream->context)) {
        struct sc_relaxed relaxed = sc_relaxed_begin();
        struct sc_mark *mark = leading_mark(&stream->marks, ticket->number, last);
        shown = mark && sc_real.cuEventQuery(mark->event) == CUDA_ERROR_NOT_READY;
        sc_relaxed_end(&relaxed);
    }
    sc_mutex_unlock(&stream->lock);
    return shown;
}

/* Returns the event of the first mark after the operation, which is recorded now if there is none.
 * NULL: that is not possible, as the record is another stream's by now, or the context may be
 * ending (quiet). */
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

/* Makes the stream wait for the operation, by a mark (an event of the library's) after it and the
 * caller's function `wait`. Never if the operation comes after a wait for a value or a semaphore:
 * that may be for work which is issued now, and both would wait for ever. */
static bool wait_for_mark(struct sc_stream_record *stream, struct sc_stream_record *earlier,
                          const struct sc_ticket *ticket, sc_marks_wait *wait, void *context)
{
    bool ordered = false;
    if (sc_track_find_unseen_before(&sc_track, earlier->id, NULL).waits != 0)
        return false;
    sc_mutex_lock(&earlier->lock);
    CUevent event = event_behind_locked(earlier, ticket);
    if (!event) /* complete operations have no mark left */
        ordered = sc_track_is_complete(&sc_track, ticket);
    else
        ordered = wait(context, stream->handle, event);
    sc_mutex_unlock(&earlier->lock);
    if (ordered && event) {
        sc_marks_note_wait(stream);
        sc_unfinished_written(stream);
    }
    return ordered;
}

/* Makes the stream wait for the operation, and tells the tracker of the order. If the operation's
 * stream has no record it is destroyed, and all its operations are complete. */
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

/* The `wait` of sc_marks_order_after: a wait for the event, as a program would make it. */
static bool wait_plainly(void *unused, CUstream stream, CUevent event)
{
    (void)unused;
    return sc_real.cuStreamWaitEvent(stream, event, 0) == CUDA_SUCCESS;
}

bool sc_marks_order_after(struct sc_stream_record *stream, const struct sc_ticket *ticket)
{
    return sc_marks_order_by(stream, ticket, wait_plainly, NULL);
}
