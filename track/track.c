#include <errno.h>

#include "common/checks.h"
#include "common/library_lock.h"
#include "common/trace.h"
#include "track/allocations.h"
#include "track/comparisons.h"
#include "track/conflicts_internal.h"
#include "track/consistency.h"
#include "track/device.h"
#include "track/events.h"
#include "track/kernel_flags.h"
#include "track/order_calls.h"
#include "track/source_copies.h"
#include "track/staging.h"
#include "track/track.h"
#include "track/track_copies.h"
#include "track/track_internal.h"
#include "track/track_ops.h"
#include "track/track_order.h"
#include "track/track_ranges.h"
#include "track/track_streams.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { RETIRE_BATCH = 256 };

struct sc_track sc_track;

/* Initialises all parts of the tracker: order, operations, held memory, graphs, events, device
 * memory. Debug builds check from now on that the parts are used under its lock. 0 or -ENOMEM. */
int sc_track_init(struct sc_track *track)
{
    track->lock = (struct sc_brief_lock){0};
    atomic_store(&track->operations, 0);
    atomic_store(&track->front.libc_watch, 0);
    track->front.watches_device = false;
    sc_order_init(&track->order);
    if (sc_inflight_init(&track->inflight, &track->order) ||
        sc_holds_init(&track->holds, &track->order, &track->graphs) ||
        sc_graphs_init(&track->graphs, &track->order) || sc_events_init(&track->events) ||
        sc_allocations_init(&track->allocations))
        return -ENOMEM;
    sc_track_guard(track, &track->lock);
    track->inflight.no_verdicts = &track->no_verdicts;
    return 0;
}

/* Opens a scope: takes the tracker's lock, and gives out its parts, which are valid until
 * sc_track_leave. */
struct sc_track_scope sc_track_enter(struct sc_track *track) SC_UNFOLLOWED
{
    lock(track);
    return (struct sc_track_scope){.track = track,
                                   .order = &track->order,
                                   .inflight = &track->inflight,
                                   .guards = &track->inflight.guards,
                                   .holds = &track->holds,
                                   .graphs = &track->graphs,
                                   .events = &track->events,
                                   .allocations = &track->allocations};
}

/* Closes a scope. What the caller changed may be of interest to free(), which looks at one word
 * without the lock: that is set before the lock is released. */
void sc_track_leave(const struct sc_track_scope *scope) SC_UNFOLLOWED
{
    publish_watch(scope->track);
    unlock(scope->track);
}

/* Sets two options before the first stream is known: whether device memory is watched, and whether
 * pages stay protected until the program has waited (strict=1). */
void sc_track_start(struct sc_track *track, bool watches_device, bool guards_until_known)
{
    track->front.watches_device = watches_device;
    track->inflight.guard_until_known = guards_until_known;
}

/* In a forked child nothing is in flight, and the lock may be held by a thread that is gone. So
 * free() is to look no further. */
void sc_track_ignore_libc(struct sc_track *track)
{
    atomic_store(&track->front.libc_watch, 0);
}

/* ---- streams and order ---- */

/* Adds a stream with its handle and device, which views read without the lock. */
uint32_t sc_track_add_stream(struct sc_track *track, enum sc_stream_kind kind, uint32_t context,
                             uintptr_t handle, int device)
{
    lock(track);
    uint32_t id = sc_order_add(&track->order, kind, context);
    if (id) {
        sc_order_stream(&track->order, id)->handle = handle;
        sc_order_stream(&track->order, id)->device = device;
    }
    unlock(track);
    return id;
}

/* Removes a stream whose handle is destroyed. The slots (places of snapshots) that it keeps for its
 * next snapshots go back first. */
void sc_track_remove_stream(struct sc_track *track, uint32_t stream)
{
    lock(track);
    sc_staging_release_kept(&track->order, stream);
    sc_order_remove(&track->order, stream);
    unlock(track);
}

/* Begins a call on a stream that may come after work of other streams, under the lock. A blocking
 * stream for which the legacy stream has nothing new needs none of that. */
static __attribute__((noinline)) void begin_call_locked(struct sc_track *track, uint32_t stream,
                                                        struct sc_order_call *call)
{
    if (!sc_order_must_begin_call(&track->order, stream))
        return;
    lock(track);
    sc_order_begin_call(&track->order, stream, call);
    unlock(track);
}

/* Begins a call of the driver's on the stream. A stream that comes after its own work alone, as
 * most do, has nothing to note: then the call is left as not begun (stream 0). */
void sc_track_begin_call(struct sc_track *track, uint32_t stream, struct sc_order_call *call)
{
    call->stream = 0;
    if (!sc_order_is_by_itself(&track->order, stream))
        begin_call_locked(track, stream, call);
}

/* Returns the point (work issued so far) of all that a call under way comes after, or of the stream
 * if the call needed no beginning. */
struct sc_point sc_track_call_point(struct sc_track *track, uint32_t stream,
                                    const struct sc_order_call *call)
{
    lock(track);
    struct sc_point point = sc_order_point_before(&track->order, stream, call);
    unlock(track);
    return point;
}

/* Ends the call, unless it needed no beginning (stream 0). */
void sc_track_end_call(struct sc_track *track, struct sc_order_call *call, bool issued)
{
    if (!call->stream)
        return;
    lock(track);
    sc_order_end_call(&track->order, call, issued);
    unlock(track);
}

/* Returns the point (work issued so far) that a synchronise of this kind waits for: of the stream,
 * of its context's legacy stream (with the blocking streams), or of the whole context. */
static struct sc_point point_locked(struct sc_track *track, uint32_t stream, enum sc_scope scope)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    uint32_t context = sc_order_stream(&track->order, stream)->context;
    if (scope == SC_SCOPE_CONTEXT)
        return sc_order_context_point(&track->order, context);
    if (scope == SC_SCOPE_LEGACY)
        return sc_order_legacy_point(&track->order, context);
    return sc_order_point(&track->order, stream);
}

/* Answers without the lock if the wait is for one stream that has joined no other: its point (work
 * issued so far) is a number. A wait for the legacy stream (SC_SCOPE_LEGACY) by a stream of another
 * kind covers the blocking streams as well. */
struct sc_point sc_track_sync_point(struct sc_track *track, uint32_t stream, enum sc_scope scope)
{
    struct sc_point point;
    bool is_of_stream = scope == SC_SCOPE_STREAM ||
                        (scope == SC_SCOPE_LEGACY &&
                         sc_order_stream(&track->order, stream)->kind == SC_STREAM_LEGACY);
    if (is_of_stream && sc_order_plain_point(&track->order, stream, &point))
        return point;
    lock(track);
    point = point_locked(track, stream, scope);
    unlock(track);
    return point;
}

/* Orders the stream after all work so far of another stream, or of its context. */
void sc_track_note_stream_wait(struct sc_track *track, uint32_t stream, uint32_t other,
                               enum sc_scope scope)
{
    lock(track);
    struct sc_point point = point_locked(track, other, scope);
    sc_order_note_wait(&track->order, stream, &point);
    sc_order_release_point(&track->order, &point);
    unlock(track);
}

/* For an event whose point (work issued so far) has a clock (numbers of several streams):
 * references to clocks are counted under the tracker's lock, so the copy is made there. */
static __attribute__((noinline)) void event_point_locked(struct sc_track *track, uintptr_t event,
                                                         struct sc_point *point)
{
    lock(track);
    sc_events_point(&track->events, event, point);
    *point = sc_order_copy_point(point);
    unlock(track);
}

/* Returns what a wait for the event waits for. Most events stand for a number of one stream, and
 * the tracker's lock is not taken. */
struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event)
{
    struct sc_point point;
    if (!sc_events_plain_point(&track->events, event, &point))
        event_point_locked(track, event, &point);
    return point;
}

/* Does the host know all of the event's point (work issued so far) to be done? Told without the
 * lock, and only if the point is a number of a stream all of whose work is known done. Other points
 * also stand for what the stream had joined when the event was recorded. */
static bool is_all_known(struct sc_track *track, const struct sc_point *point)
{
    return point->stream && !point->legacy && !point->joined &&
           sc_order_is_all_known(&track->order, point->stream);
}

/* The host is about to wait for the event. What the host knows already is not looked at again after
 * the wait: then an empty point (work issued so far) is stored. */
void sc_track_event_work(struct sc_track *track, uintptr_t event, struct sc_point *point,
                         struct sc_behind *behind)
{
    if (!sc_events_plain_point(&track->events, event, point))
        event_point_locked(track, event, point);
    *behind = (struct sc_behind){point->stream, point->work_ticks};
    if (is_all_known(track, point))
        *point = (struct sc_point){0};
}

/* Asked by waits for an event, of which the most find nothing new: compares the event's number with
 * what the host knows of the stream, under the event's lock alone. */
bool sc_track_known_event(struct sc_track *track, uintptr_t event, struct sc_event_number *number)
{
    return sc_events_get_simple(&track->events, event, number) &&
           number->number <=
               atomic_load_explicit(&sc_order_stream(&track->order, number->stream)->done,
                                    memory_order_acquire);
}

/* Forgets the operations that are known done, of the stream or with 0 of all. Between batches the
 * lock is released, so that no thread waits long for it after a synchronise that ends a hundred
 * thousand operations. `retiring` tells others meanwhile that what the host knows may be in flight
 * still by the records. */
static void retire_in_batches(struct sc_track *track, uint32_t stream, struct sc_ops *overwritten)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    while (sc_inflight_retire(&track->inflight, stream, RETIRE_BATCH, overwritten)) {
        track->order.retiring++;
        unlock(track);
        lock(track);
        track->order.retiring--;
    }
    publish_watch(track);
}

/* Stores the results of the comparisons made last, and makes the next ones, without the lock: to
 * compare a source with its snapshot takes long. Until they are made the thread counts as holding a
 * lock of the library's, since others wait for it. */
static __attribute__((noinline)) void end_and_begin_comparisons(struct sc_track *track,
                                                                const struct sc_point *point,
                                                                struct sc_comparisons *comparisons)
{
    sc_library_lock_enter(); /* no signal handler stops the thread in between */
    lock(track);
    sc_comparisons_end(&track->inflight, comparisons);
    sc_comparisons_begin(&track->inflight, point, comparisons);
    unlock(track);
    if (comparisons->count)
        sc_comparisons_make(&track->inflight, comparisons);
    sc_library_lock_leave();
}

/* Before the host's wait is noted: compares the large sources of operations that end with it, a few
 * at a time, until none is left. Sources that are compared now need not be compared under the lock
 * later. */
void sc_track_compare_sources(struct sc_track *track, const struct sc_point *point,
                              struct sc_comparisons *comparisons)
{
    comparisons->count = 0;
    if (!sc_comparisons_may_be_needed(&track->order, point))
        return;
    do
        end_and_begin_comparisons(track, point, comparisons);
    while (comparisons->count && sc_comparisons_may_be_needed(&track->order, point));
}

/* Ends all operations that the point (work issued so far) covers, since the host has waited for
 * them. Only the point's stream has operations to forget if the point is of one stream, unless
 * another thread is still forgetting what the point leaves out because the host knows it already.
 * Where a wait of unseen end (one that no call tells the end of) is over, the pages of operations
 * behind it are protected from now on. */
void sc_track_note_known(struct sc_track *track, struct sc_point *point,
                         const struct sc_comparisons *comparisons, struct sc_ops *overwritten)
{
    if (overwritten)
        overwritten->count = 0;
    lock(track);
    bool is_of_one = sc_order_is_of_one_stream(point) && !track->order.retiring;
    uint32_t stream = is_of_one ? point->stream : 0;
    if (comparisons)
        sc_comparisons_end(&track->inflight, comparisons);
    sc_order_note_known(&track->order, point);
    retire_in_batches(track, stream, overwritten);
    if (!sc_unseen_none_is_open(&track->order.unseen) && sc_unseen_forget_known(&track->order))
        sc_inflight_guard_seen(&track->inflight);
    sc_order_note_all_known(&track->order, point);
    if (point->joined)
        sc_order_release_point(&track->order, point);
    else
        *point = (struct sc_point){0};
    unlock(track);
}

/* Returns the waits of unseen end (waits for the host, of which no call tells the end) that are
 * before work issued now. Mostly there are none in the process, and the lock is not taken. */
struct sc_unseen_mark sc_track_find_unseen_before(struct sc_track *track, uint32_t stream,
                                                  const struct sc_point *after)
{
    struct sc_unseen_mark behind = {0};
    if (sc_unseen_none_is_open(&track->order.unseen))
        return behind;
    lock(track);
    behind = sc_unseen_find_before(&track->order, stream, after);
    unlock(track);
    return behind;
}

/* Releases a point (work issued so far). One without a clock (what was waited for on other streams)
 * holds no reference. */
void sc_track_release_point(struct sc_track *track, struct sc_point *point)
{
    if (!point->joined)
        return;
    lock(track);
    sc_order_release_point(&track->order, point);
    unlock(track);
}

/* Begins the record of an event on a stream that may come after others, and takes the point (work
 * issued so far) that the event will stand for. On a legacy stream among blocking ones the record
 * is work, whose call lasts until the driver has answered; elsewhere it is none and ends here. */
static __attribute__((noinline)) void begin_record_locked(struct sc_track *track, uint32_t stream,
                                                          struct sc_order_call *call,
                                                          struct sc_point *point)
{
    lock(track);
    sc_order_begin_call(&track->order, stream, call);
    *point = sc_order_call_point(&track->order, call);
    if (!sc_order_is_among_blocking(sc_order_stream(&track->order, stream)))
        sc_order_end_record(&track->order, call, /*issued*/ true);
    unlock(track);
}

/* Takes the point (work issued so far) that the event will stand for, before the driver is called.
 * A stream that has joined no other has a number for a point, and the call needs no end (stream 0).
 */
void sc_track_begin_record(struct sc_track *track, uint32_t stream, struct sc_order_call *call,
                           struct sc_point *point)
{
    call->stream = 0;
    if (!sc_order_plain_point(&track->order, stream, point))
        begin_record_locked(track, stream, call, point);
}

/* Ends the call of a record that is work, when the driver has answered. Others have ended in
 * begin_record_locked. */
void sc_track_end_record(struct sc_track *track, struct sc_order_call *call, bool issued)
{
    if (!call->stream)
        return;
    lock(track);
    sc_order_end_record(&track->order, call, issued);
    unlock(track);
}

/* sc_track_set_event for an event that has no record yet, or where a point (work issued so far) has
 * a clock (what was waited for on other streams): clocks are counted under the tracker's lock. */
static __attribute__((noinline)) void set_event_locked(struct sc_track *track, uintptr_t event,
                                                       struct sc_point *point)
{
    lock(track);
    sc_events_set(&track->events, &track->order, event, point);
    unlock(track);
}

/* The driver has recorded the event: it stands for the point (work issued so far) from now on. */
void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point)
{
    if (!sc_events_set_plain(&track->events, event, point))
        set_event_locked(track, event, point);
}

/* Is it clear, without the lock, that a wait for the event orders nothing, since the host knows all
 * of it to be done? Not on a legacy stream among blocking ones: there the wait is work, and others
 * come after it. Nor if the point (work issued so far) has a clock (what was waited for on other
 * streams), which needs the lock. */
static bool is_known_without_lock(struct sc_track *track, uint32_t stream, uintptr_t event)
{
    struct sc_point point;
    return !sc_order_is_among_blocking(sc_order_stream(&track->order, stream)) &&
           sc_events_plain_point(&track->events, event, &point) &&
           sc_order_point_is_known(&track->order, &point);
}

/* Notes what the event stands for, before the driver makes a stream wait for it. A wait for an
 * event that was never recorded orders nothing, nor does one for what the host knows. If another
 * thread records the event again meanwhile on the same stream, the wait covers at least what is
 * noted here. */
void sc_track_begin_wait(struct sc_track *track, uint32_t stream, uintptr_t event,
                         struct sc_wait *wait)
{
    struct sc_point point;
    wait->event = event;
    wait->call.stream = 0;
    if (is_known_without_lock(track, stream, event))
        return;
    lock(track);
    bool is_work = sc_order_is_among_blocking(sc_order_stream(&track->order, stream));
    if (sc_events_point(&track->events, event, &point) &&
        (is_work || !sc_order_point_is_known(&track->order, &point))) {
        wait->recorded_on = point.stream;
        sc_order_begin_call(&track->order, stream, &wait->call);
        sc_order_call_waits(&track->order, &wait->call, &point);
    }
    unlock(track);
}

/* The driver has answered: the stream comes after what was noted. Not if another thread has
 * recorded the event on another stream meanwhile: then nobody knows which record the driver waits
 * for. */
void sc_track_end_wait(struct sc_track *track, struct sc_wait *wait, bool issued)
{
    if (!wait->call.stream)
        return;
    struct sc_point point;
    lock(track);
    bool is_same_stream =
        sc_events_point(&track->events, wait->event, &point) && point.stream == wait->recorded_on;
    sc_order_end_record(&track->order, &wait->call, issued && is_same_stream);
    unlock(track);
}

/* A query of the device has shown that the stream's operations up to `number` are complete. That
 * orders nothing: they are kept until the host has waited, but are no longer protected. Queries of
 * two threads may come in either order. */
void sc_track_note_complete(struct sc_track *track, uint32_t stream, uint64_t number)
{
    SC_TRACE("complete stream number", stream, number);
    lock(track);
    struct sc_stream *state = sc_order_stream(&track->order, stream);
    if (atomic_load_explicit(&state->complete, memory_order_relaxed) < number) {
        atomic_store_explicit(&state->complete, number, memory_order_release);
        SC_CHECK(sc_consistency_of_order(&track->order, stream));
        sc_inflight_note_complete(&track->inflight, stream);
        publish_watch(track);
    }
    unlock(track);
}

/* ---- what other modules read (track/track_streams.h) ---- */

static struct sc_stream *stream_of(struct sc_track *track, uint32_t stream)
{
    return sc_order_stream(&track->order, stream);
}

/* Returns what reports say of a stream, read without the lock. The id's record never moves. */
struct sc_stream_view sc_track_stream(struct sc_track *track, uint32_t id)
{
    const struct sc_stream *stream = stream_of(track, id);
    return (struct sc_stream_view){
        .handle = stream->handle,
        .device = stream->device,
        .origin = atomic_load_explicit(&stream->origin, memory_order_relaxed),
        .complete = atomic_load_explicit(&stream->complete, memory_order_acquire),
        .done = atomic_load_explicit(&stream->done, memory_order_acquire),
    };
}

/* The number of the stream's last operation, read without the lock. */
uint64_t sc_track_issued(struct sc_track *track, uint32_t stream)
{
    return sc_order_issued(&track->order, stream);
}

/* Has the device finished the operation, as far as was asked? That orders nothing. */
bool sc_track_is_complete(struct sc_track *track, const struct sc_ticket *ticket)
{
    return sc_order_complete(&track->order, ticket);
}

/* Has the host waited for the operation, or for something after it? */
bool sc_track_is_known_done(struct sc_track *track, const struct sc_ticket *ticket)
{
    return sc_order_known_done(&track->order, ticket);
}

/* Would a wait for the stream teach the host nothing? */
bool sc_track_is_all_known(struct sc_track *track, uint32_t stream)
{
    return sc_order_is_all_known(&track->order, stream);
}

/* May the stream's next call come after other streams' work, for one of these reasons (ties)? Asked
 * without the lock. */
bool sc_track_is_tied(struct sc_track *track, uint32_t stream, unsigned ties)
{
    return sc_order_is_tied(&track->order, stream, ties);
}

/* Would a wait for the context teach the host nothing, so that its end need not be noted? Waits of
 * unseen end have still to be looked at, so not while there are any. */
bool sc_track_is_context_known(struct sc_track *track, uint32_t legacy)
{
    return sc_unseen_none_is_open(&track->order.unseen) &&
           sc_order_is_context_known(&track->order, legacy);
}

/* Do pages stay protected until the program has waited, and not only until the copy is complete? */
bool sc_track_guards_until_known(struct sc_track *track)
{
    return track->inflight.guard_until_known;
}

/* ---- operations ---- */

/* Finds the operations that conflict with `info`. On device memory there are mostly none at the
 * address, which is told without the lock. */
void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info, bool awaited,
                        struct sc_ops *conflicts)
{
    conflicts->count = 0;
    if (info->kind == SC_DEVICE &&
        !sc_inflight_may_overlap_on_device(&track->inflight, info->shape.address,
                                           sc_shape_hull_bytes(&info->shape)))
        return;
    lock(track);
    sc_conflicts_find(&track->inflight, info, awaited, conflicts);
    unlock(track);
}

/* Counts, for the report, operations whose sources could not be copied (no memory): an overwrite
 * beside their protected pages would be missed. */
static void count_uncompared(struct sc_track *track)
{
    struct sc_unwatched *uncompared = &track->inflight.uncompared;
    if (uncompared->operations == 0)
        return;
    sc_no_verdicts_add_unwatched(&track->no_verdicts, SC_NO_VERDICT_SHARED_PAGE,
                                 uncompared->operations, uncompared->bytes);
    *uncompared = (struct sc_unwatched){0, 0};
}

/* Records the operation. If there is no memory for that, nothing will release its slots (copies of
 * the source in staging memory), so they are released here. */
static void add_op(struct sc_track *track, struct sc_op_info *info, struct sc_ops *overwritten)
{
    if (!sc_inflight_add(&track->inflight, info, overwritten))
        sc_source_copies_release_slots(info);
}

/* An equal operation is about to be replaced: compares its large source without holding the lock,
 * which others would wait for. The thread counts as holding a lock of the library's meanwhile, so
 * that no signal handler stops it while others wait for the comparison. With `copy` the snapshot is
 * taken over at once, and the result has no other use. */
__attribute__((noinline)) void sc_track_compare_equal(struct sc_track *track,
                                                      const struct sc_op_info *info,
                                                      struct sc_simple_copy *copy)
{
    struct sc_comparisons comparisons;
    sc_library_lock_enter(); /* no signal handler stops the thread in between */
    lock(track);
    sc_comparisons_begin_equal(&track->inflight, info, &comparisons);
    unlock(track);
    if (comparisons.count) {
        sc_comparisons_make(&track->inflight, &comparisons);
        lock(track);
        sc_comparisons_end(&track->inflight, &comparisons);
        if (copy) {
            copy->slot = sc_inflight_take_snapshot(&track->inflight, copy);
            sc_comparisons_discard(&comparisons);
        }
        unlock(track);
    }
    sc_library_lock_leave();
}

/* Gives the operation its number, and records it. Another thread may have issued something between
 * the search for conflicts before the call and now, so the search is made again. */
static void issue_locked(struct sc_track *track, struct sc_op_info *info, struct sc_issued *issued)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    sc_order_renew_ticket(&track->order, &info->ticket);
    sc_conflicts_find(&track->inflight, info, /*awaited*/ false, &issued->conflicts);
    add_op(track, info, &issued->overwritten);
}

/* Records the operations of a call that the driver has accepted. Large sources of equal operations
 * are compared before the lock is taken, as that takes long. The call has not begun (stream 0) if
 * its stream comes after its own work alone. */
void sc_track_issue(struct sc_track *track, struct sc_order_call *call, struct sc_op_info *infos,
                    unsigned count, struct sc_issued *issued)
{
    issued->conflicts.count = 0;
    issued->overwritten.count = 0;
    for (unsigned i = 0; i < count; i++)
        if (infos[i].slot && sc_shape_hull_bytes(&infos[i].shape) >= SC_COMPARISONS_MIN_BYTES)
            sc_track_compare_equal(track, &infos[i], NULL);
    lock(track);
    if (call->stream)
        sc_order_end_call(&track->order, call, /*issued*/ true);
    atomic_store_explicit(&track->operations,
                          atomic_load_explicit(&track->operations, memory_order_relaxed) + count,
                          memory_order_relaxed);
    for (unsigned i = 0; i < count; i++)
        issue_locked(track, &infos[i], issued);
    count_uncompared(track);
    publish_watch(track);
    unlock(track);
}

/* ---- kernels ---- */

/* Is the address in the list already? Kernels often have one address twice among their parameters.
 */
static bool lists_byte(const struct sc_kernel_host *host, uintptr_t address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (host->bytes[i].address == address)
            return true;
    return false;
}

/* Keeps the addresses among a kernel's parameters that lie in pinned or registered memory, each
 * once. The digest of a small range (host memory known to the driver) there tells later whether the
 * kernel has set a flag (a word by which it tells the host how far it has come). */
void sc_track_find_kernel_host(struct sc_track *track, const uintptr_t *addresses, unsigned count,
                               struct sc_kernel_host *host)
{
    struct sc_inflight *inflight = &track->inflight;
    if (sc_grid_is_empty(&inflight->range_grid))
        return;
    lock(track);
    for (unsigned i = 0; i < count && host->count < SC_KERNEL_HOST_MAX; i++) {
        uint32_t range = sc_grid_find_at_locked(&inflight->range_grid, addresses[i]);
        const struct sc_range_info info = sc_track_reread_range(track, range);
        if ((info.kind == SC_PINNED || info.kind == SC_REGISTERED) && range &&
            !lists_byte(host, addresses[i]))
            host->bytes[host->count++] =
                (struct sc_kernel_byte){addresses[i], sc_kernel_flags_digest(inflight, range)};
    }
    unlock(track);
}

/* Before a launch that has addresses of host memory: compares the sources of copies there for the
 * last time, since the kernel may correctly write them. A range (host memory known to the driver)
 * without such copies is left out. */
void sc_track_seal_for_kernel(struct sc_track *track, const struct sc_kernel_host *host,
                              const struct sc_op_info *later, struct sc_ops *overwritten)
{
    overwritten->count = 0;
    lock(track);
    for (unsigned i = 0; i < host->count; i++) {
        uintptr_t address = host->bytes[i].address;
        uint32_t range = sc_grid_find_at_locked(&track->inflight.range_grid, address);
        if (range && sc_inflight_has_sources(&track->inflight, range))
            sc_inflight_seal_for_kernel(&track->inflight, range, address, later, overwritten);
    }
    unlock(track);
}

/* Records the operations of one call, as of a graph's launch, all with the ticket (stream and
 * number) of the first one. No wait can end one of them before the others. */
void sc_track_issue_one(struct sc_track *track, struct sc_op_info *infos, unsigned count)
{
    SC_OPS(unused);
    lock(track);
    if (infos[0].ticket.number == 0)
        sc_order_renew_ticket(&track->order, &infos[0].ticket);
    for (unsigned i = 0; i < count; i++) {
        infos[i].ticket = infos[0].ticket;
        if (infos[i].kind == SC_DEVICE)
            sc_device_add(&track->inflight, &infos[i]);
        else
            add_op(track, &infos[i], &unused);
    }
    publish_watch(track);
    unlock(track);
}
