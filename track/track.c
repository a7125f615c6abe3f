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

void sc_track_leave(const struct sc_track_scope *scope) SC_UNFOLLOWED
{
    publish_watch(scope->track);
    unlock(scope->track);
}

void sc_track_start(struct sc_track *track, bool watches_device, bool guards_until_known)
{
    track->front.watches_device = watches_device;
    track->inflight.guard_until_known = guards_until_known;
}

void sc_track_ignore_libc(struct sc_track *track)
{
    atomic_store(&track->front.libc_watch, 0);
}

/* ---- streams and order ---- */

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

void sc_track_remove_stream(struct sc_track *track, uint32_t stream)
{
    lock(track);
    sc_staging_release_kept(&track->order, stream);
    sc_order_remove(&track->order, stream);
    unlock(track);
}

/* Begins a call on a stream that may come after work of other streams. */
static __attribute__((noinline)) void begin_call_locked(struct sc_track *track, uint32_t stream,
                                                        struct sc_order_call *call)
{
    if (!sc_order_must_begin_call(&track->order, stream))
        return;
    lock(track);
    sc_order_begin_call(&track->order, stream, call);
    unlock(track);
}

void sc_track_begin_call(struct sc_track *track, uint32_t stream, struct sc_order_call *call)
{
    call->stream = 0;
    if (!sc_order_is_by_itself(&track->order, stream))
        begin_call_locked(track, stream, call);
}

struct sc_point sc_track_call_point(struct sc_track *track, uint32_t stream,
                                    const struct sc_order_call *call)
{
    lock(track);
    struct sc_point point = sc_order_point_before(&track->order, stream, call);
    unlock(track);
    return point;
}

void sc_track_end_call(struct sc_track *track, struct sc_order_call *call, bool issued)
{
    if (!call->stream)
        return;
    lock(track);
    sc_order_end_call(&track->order, call, issued);
    unlock(track);
}

/* Returns the point of the stream, of its context's legacy stream, or of the whole context. */
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

/* Without the lock, if the wait is for one stream that has joined no other. */
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

static __attribute__((noinline)) void event_point_locked(struct sc_track *track, uintptr_t event,
                                                         struct sc_point *point)
{
    lock(track);
    sc_events_point(&track->events, event, point);
    *point = sc_order_copy_point(point);
    unlock(track);
}

struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event)
{
    struct sc_point point;
    if (!sc_events_plain_point(&track->events, event, &point))
        event_point_locked(track, event, &point);
    return point;
}

/* Does the host know all of the event's point to be done? It does if it knows all work of the
 * stream, and the point is only a number of the stream. Other points also stand for what the stream
 * had joined when the event was recorded. */
static bool is_all_known(struct sc_track *track, const struct sc_point *point)
{
    return point->stream && !point->legacy && !point->joined &&
           sc_order_is_all_known(&track->order, point->stream);
}

void sc_track_event_work(struct sc_track *track, uintptr_t event, struct sc_point *point,
                         struct sc_behind *behind)
{
    if (!sc_events_plain_point(&track->events, event, point))
        event_point_locked(track, event, point);
    *behind = (struct sc_behind){point->stream, point->work_ticks};
    if (is_all_known(track, point))
        *point = (struct sc_point){0};
}

/* Such an event is the common case: compares its number with what the host knows of the stream. */
bool sc_track_known_event(struct sc_track *track, uintptr_t event, struct sc_event_number *number)
{
    return sc_events_get_simple(&track->events, event, number) &&
           number->number <=
               atomic_load_explicit(&sc_order_stream(&track->order, number->stream)->done,
                                    memory_order_acquire);
}

/* Retires what is known done, of the stream or with 0 of all. It does so in batches, so that no
 * thread waits long for the lock after a synchronise that ends a hundred thousand operations. */
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

/* Stores the results of the last comparisons, and makes the next ones. */
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

/* Ends all operations that the point covers, since the host has waited for them. If the point is of
 * one stream, only that stream has operations to retire, unless another thread is still retiring
 * what the point leaves out because the host knows it already. */
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

void sc_track_release_point(struct sc_track *track, struct sc_point *point)
{
    if (!point->joined)
        return;
    lock(track);
    sc_order_release_point(&track->order, point);
    unlock(track);
}

/* Begins the record of an event on a stream that may have joined others. Unless the stream is a
 * legacy one among blocking ones, the record is no work, and its call ends at once. */
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

void sc_track_begin_record(struct sc_track *track, uint32_t stream, struct sc_order_call *call,
                           struct sc_point *point)
{
    call->stream = 0;
    if (!sc_order_plain_point(&track->order, stream, point))
        begin_record_locked(track, stream, call, point);
}

void sc_track_end_record(struct sc_track *track, struct sc_order_call *call, bool issued)
{
    if (!call->stream)
        return;
    lock(track);
    sc_order_end_record(&track->order, call, issued);
    unlock(track);
}

static __attribute__((noinline)) void set_event_locked(struct sc_track *track, uintptr_t event,
                                                       struct sc_point *point)
{
    lock(track);
    sc_events_set(&track->events, &track->order, event, point);
    unlock(track);
}

void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point)
{
    if (!sc_events_set_plain(&track->events, event, point))
        set_event_locked(track, event, point);
}

/* Does a wait for the event order nothing? That can be told without the lock if its point has no
 * clock, and the stream is no legacy stream among blocking ones, where a wait is work. */
static bool is_known_without_lock(struct sc_track *track, uint32_t stream, uintptr_t event)
{
    struct sc_point point;
    return !sc_order_is_among_blocking(sc_order_stream(&track->order, stream)) &&
           sc_events_plain_point(&track->events, event, &point) &&
           sc_order_point_is_known(&track->order, &point);
}

/* Stores what the event stands for, before the driver makes a stream wait for it. A wait for an
 * event that was never recorded orders nothing. If another thread records the event again
 * meanwhile, the stream waits for the former record or for a later one, which comes after the
 * former one if it is on the same stream. */
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

/* If the event was recorded anew meanwhile, on another stream, the call did not wait for what was
 * noted. */
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

/* Retains the operations up to `number`, which are complete. */
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

uint64_t sc_track_issued(struct sc_track *track, uint32_t stream)
{
    return sc_order_issued(&track->order, stream);
}

bool sc_track_is_complete(struct sc_track *track, const struct sc_ticket *ticket)
{
    return sc_order_complete(&track->order, ticket);
}

bool sc_track_is_known_done(struct sc_track *track, const struct sc_ticket *ticket)
{
    return sc_order_known_done(&track->order, ticket);
}

bool sc_track_is_all_known(struct sc_track *track, uint32_t stream)
{
    return sc_order_is_all_known(&track->order, stream);
}

bool sc_track_is_tied(struct sc_track *track, uint32_t stream, unsigned ties)
{
    return sc_order_is_tied(&track->order, stream, ties);
}

bool sc_track_is_context_known(struct sc_track *track, uint32_t legacy)
{
    return sc_unseen_none_is_open(&track->order.unseen) &&
           sc_order_is_context_known(&track->order, legacy);
}

bool sc_track_guards_until_known(struct sc_track *track)
{
    return track->inflight.guard_until_known;
}

/* ---- operations ---- */

/* Finds the operations that conflict with `info`. Those on device memory are searched for under the
 * lock only if one may overlap. */
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

/* Counts operations as not watched whose sources could not be copied, and so will not be compared.
 */
static void count_uncompared(struct sc_track *track)
{
    struct sc_unwatched *uncompared = &track->inflight.uncompared;
    if (uncompared->operations == 0)
        return;
    sc_no_verdicts_add_unwatched(&track->no_verdicts, SC_NO_VERDICT_SHARED_PAGE,
                                 uncompared->operations, uncompared->bytes);
    *uncompared = (struct sc_unwatched){0, 0};
}

static void add_op(struct sc_track *track, struct sc_op_info *info, struct sc_ops *overwritten)
{
    if (!sc_inflight_add(&track->inflight, info, overwritten))
        sc_source_copies_release_slots(info);
}

/* Compares the source of an equal operation between two uses of the lock, without holding it.
 * Meanwhile the thread counts as holding a lock of the library's, so that no signal handler stops
 * it. */
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

/* Gives the operation its number, and looks for conflicts that came between the judgement before
 * the call and now. */
static void issue_locked(struct sc_track *track, struct sc_op_info *info, struct sc_issued *issued)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    sc_order_renew_ticket(&track->order, &info->ticket);
    sc_conflicts_find(&track->inflight, info, /*awaited*/ false, &issued->conflicts);
    add_op(track, info, &issued->overwritten);
}

/* Records the operations of the call. Large sources of equal operations are compared before the
 * lock is taken. */
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

static bool lists_byte(const struct sc_kernel_host *host, uintptr_t address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (host->bytes[i].address == address)
            return true;
    return false;
}

/* Keeps each address once, with a digest of the flags there. */
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

/* Gives all operations the ticket of the first one, which gets a number here if it has none. */
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
