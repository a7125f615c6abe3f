#include "track/track.h"

#include <errno.h>
#include <string.h>

#include "track/track_lock.h"

#include "track/poison.h"

enum { RETIRE_BATCH = 256 };

struct sc_track sc_track = {.lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP};
__thread int sc_track_inside __attribute__((tls_model("initial-exec")));

/* Held for some tens of nanoseconds: a thread that finds it taken spins before it sleeps. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

int sc_track_init(struct sc_track *track)
{
    init_lock(&track->lock);
    atomic_store(&track->operations, 0);
    atomic_store(&track->libc_watch, 0);
    sc_order_init(&track->order);
    sc_pool_init(&track->points, sizeof(struct sc_point));
    if (sc_inflight_init(&track->inflight, &track->order) ||
        sc_holds_init(&track->holds, &track->order, &track->graphs) ||
        sc_graphs_init(&track->graphs, &track->order) || sc_handles_init(&track->events))
        return -ENOMEM;
    return 0;
}

void sc_track_destroy(struct sc_track *track)
{
    sc_handles_destroy(&track->events);
    sc_graphs_destroy(&track->graphs);
    sc_holds_destroy(&track->holds);
    sc_inflight_destroy(&track->inflight);
    sc_pool_destroy(&track->points);
    sc_order_destroy(&track->order);
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
    sc_order_remove(&track->order, stream);
    unlock(track);
}

static void work_locked(struct sc_track *track, uint32_t stream)
{
    if (sc_order_stream(&track->order, stream)->kind == SC_STREAM_LEGACY)
        sc_order_issue(&track->order, stream);
    else
        sc_order_touch(&track->order, stream);
}

void sc_track_work(struct sc_track *track, uint32_t stream)
{
    bool legacy = sc_order_stream(&track->order, stream)->kind == SC_STREAM_LEGACY;
    if (!legacy && !sc_order_touch_needed(&track->order, stream))
        return;
    lock(track);
    work_locked(track, stream);
    unlock(track);
}

struct sc_point sc_track_point(struct sc_track *track, uint32_t stream, enum sc_scope scope)
{
    struct sc_point point;
    lock(track);
    uint32_t context = sc_order_stream(&track->order, stream)->context;
    if (scope == SC_SCOPE_CONTEXT)
        point = sc_order_context_point(&track->order, context);
    else if (scope == SC_SCOPE_LEGACY)
        point = sc_order_legacy_point(&track->order, context);
    else
        point = sc_order_point(&track->order, stream);
    unlock(track);
    return point;
}

static struct sc_point *event_point(struct sc_track *track, uintptr_t event)
{
    uint64_t id = sc_handles_get(&track->events, event);
    return id ? sc_pool_at(&track->points, (uint32_t)id) : NULL;
}

struct sc_point sc_track_event_point(struct sc_track *track, uintptr_t event)
{
    struct sc_point point = {0};
    lock(track);
    const struct sc_point *stored = event_point(track, event);
    if (stored)
        point = sc_order_copy_point(stored);
    unlock(track);
    return point;
}

/* In batches, so that no thread waits long for the lock behind a synchronise that ends a hundred
 * thousand operations. */
static void retire(struct sc_track *track, struct sc_ops *overwritten)
{
    while (sc_inflight_retire(&track->inflight, RETIRE_BATCH, overwritten)) {
        unlock(track);
        lock(track);
    }
    publish_watch(track);
}

void sc_track_known(struct sc_track *track, struct sc_point *point, struct sc_ops *overwritten)
{
    if (overwritten)
        overwritten->count = 0;
    lock(track);
    sc_order_known(&track->order, point);
    sc_order_release(&track->order, point);
    retire(track, overwritten);
    unlock(track);
}

void sc_track_forget_point(struct sc_track *track, struct sc_point *point)
{
    lock(track);
    sc_order_release(&track->order, point);
    unlock(track);
}

struct sc_point sc_track_record_point(struct sc_track *track, uint32_t stream)
{
    lock(track);
    work_locked(track, stream);
    struct sc_point point = sc_order_point(&track->order, stream);
    unlock(track);
    return point;
}

static void forget_event_locked(struct sc_track *track, uintptr_t event)
{
    uint64_t id = sc_handles_remove(&track->events, event);
    if (!id)
        return;
    sc_order_release(&track->order, sc_pool_at(&track->points, (uint32_t)id));
    sc_pool_give(&track->points, (uint32_t)id);
}

/* An event without memory for its point is an unknown one: waiting for it then orders nothing. */
static struct sc_point *make_event_point(struct sc_track *track, uintptr_t event)
{
    uint32_t id = sc_pool_take(&track->points);
    if (!id)
        return NULL;
    if (sc_handles_put(&track->events, event, id) == 0)
        return sc_pool_at(&track->points, id);
    sc_pool_give(&track->points, id);
    return NULL;
}

void sc_track_set_event(struct sc_track *track, uintptr_t event, struct sc_point *point)
{
    lock(track);
    struct sc_point *stored = event_point(track, event);
    if (!stored)
        stored = make_event_point(track, event);
    else
        sc_order_release(&track->order, stored);
    if (stored)
        *stored = *point;
    else
        sc_order_release(&track->order, point);
    unlock(track);
}

void sc_track_forget_event(struct sc_track *track, uintptr_t event)
{
    lock(track);
    forget_event_locked(track, event);
    unlock(track);
}

/* On a blocking stream a wait is no work that would come after the legacy stream's: a synchronise
 * behind it returns while the legacy stream is busy. On a legacy stream it joins the blocking ones,
 * unless the event was never recorded. */
void sc_track_wait(struct sc_track *track, uint32_t stream, uintptr_t event)
{
    lock(track);
    const struct sc_point *stored = event_point(track, event);
    if (stored)
        sc_order_wait(&track->order, stream, stored);
    if (stored && sc_order_stream(&track->order, stream)->kind == SC_STREAM_LEGACY)
        sc_order_issue(&track->order, stream);
    unlock(track);
}

void sc_track_order_after(struct sc_track *track, uint32_t stream, const struct sc_ticket *ticket)
{
    struct sc_point point = {.stream = ticket->stream, .number = ticket->number};
    lock(track);
    sc_order_wait(&track->order, stream, &point);
    unlock(track);
}

void sc_track_complete(struct sc_track *track, uint32_t stream, uint64_t number)
{
    lock(track);
    struct sc_stream *state = sc_order_stream(&track->order, stream);
    if (atomic_load_explicit(&state->complete, memory_order_relaxed) < number) {
        atomic_store_explicit(&state->complete, number, memory_order_release);
        sc_inflight_note_complete(&track->inflight, stream);
        publish_watch(track);
    }
    unlock(track);
}

/* ---- ranges ---- */

void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context)
{
    lock(track);
    sc_inflight_add_range(&track->inflight, address, size_bytes, kind, context);
    unlock(track);
}

void sc_track_remove_range(struct sc_track *track, uintptr_t address)
{
    lock(track);
    uint32_t range = sc_grid_point_locked(&track->inflight.range_grid, address);
    if (range)
        sc_inflight_remove_range(&track->inflight, range);
    unlock(track);
}

void sc_track_forbid_snapshots(struct sc_track *track, uintptr_t address)
{
    lock(track);
    uint32_t range = sc_grid_point_locked(&track->inflight.range_grid, address);
    if (range)
        atomic_store_explicit(&sc_inflight_range(&track->inflight, range)->no_snapshots, true,
                              memory_order_release);
    unlock(track);
}

struct range_search {
    struct sc_track *track;
    uint32_t context;
    uint32_t found;
};

static bool note_range_of_context(void *context, uint32_t id)
{
    struct range_search *search = context;
    struct sc_range *range = sc_inflight_range(&search->track->inflight, id);
    if (atomic_load_explicit(&range->context, memory_order_relaxed) == search->context)
        search->found = id;
    return !search->found;
}

void sc_track_remove_ranges_of(struct sc_track *track, uint32_t context)
{
    struct range_search search = {track, context, 0};
    lock(track);
    do {
        search.found = 0;
        sc_grid_overlaps_locked(&track->inflight.range_grid, 0, SIZE_MAX, note_range_of_context,
                                &search);
        if (search.found)
            sc_inflight_remove_range(&track->inflight, search.found);
    } while (search.found);
    unlock(track);
}

static struct sc_range_info describe_range(struct sc_track *track, uint32_t id)
{
    struct sc_range_info info = {0};
    if (!id)
        return info;
    struct sc_range *range = sc_inflight_range(&track->inflight, id);
    info.range = id;
    info.address = atomic_load_explicit(&range->node.address, memory_order_acquire);
    info.size_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_acquire);
    info.kind = atomic_load_explicit(&range->kind, memory_order_acquire);
    info.context = atomic_load_explicit(&range->context, memory_order_acquire);
    info.guarding = (enum sc_guarding)atomic_load_explicit(&range->guarding, memory_order_acquire);
    info.no_snapshots = atomic_load_explicit(&range->no_snapshots, memory_order_acquire);
    return info;
}

static bool lies_in_range(struct sc_track *track, uint32_t id, uintptr_t address)
{
    const struct sc_grid_node *node = &sc_inflight_range(&track->inflight, id)->node;
    uintptr_t start = atomic_load_explicit(&node->address, memory_order_relaxed);
    return address - start < atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
}

/* Programs copy from the same memory again and again: a thread remembers the last range, as long as
 * none came or went. In one word, since a signal handler may come in between. */
static uint32_t find_range_id(struct sc_track *track, uintptr_t address)
{
    static __thread _Atomic uint64_t last __attribute__((tls_model("initial-exec")));
    uint64_t version =
        atomic_load_explicit(&track->inflight.range_grid.version, memory_order_acquire) << 32;
    uint64_t known = atomic_load_explicit(&last, memory_order_relaxed);
    uint32_t id = (uint32_t)known;
    if (track == &sc_track && id && known - id == version && lies_in_range(track, id, address))
        return id;
    id = sc_inflight_range_of(&track->inflight, address);
    if (track == &sc_track && id != SC_GRID_RETRY)
        atomic_store_explicit(&last, version | id, memory_order_relaxed);
    return id;
}

struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address)
{
    uint32_t id = find_range_id(track, address);
    if (id != SC_GRID_RETRY)
        return describe_range(track, id);
    lock(track);
    struct sc_range_info info =
        describe_range(track, sc_grid_point_locked(&track->inflight.range_grid, address));
    unlock(track);
    return info;
}

static bool may_conflict(struct sc_range *range, bool writes)
{
    return atomic_load_explicit(writes ? &range->op_count : &range->writer_count,
                                memory_order_relaxed) != 0;
}

bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction)
{
    bool writes = sc_direction_writes_host(direction);
    uint32_t stray = track->inflight.stray;
    return may_conflict(sc_inflight_range(&track->inflight, stray), writes) ||
           (range && may_conflict(sc_inflight_range(&track->inflight, range), writes));
}

/* ---- operations ---- */

struct ops_collector {
    struct sc_track *track;
    struct sc_ops *ops;
    bool unjudged; /* some were found that are not to be judged */
};

static bool collect_op(void *context, uint32_t id)
{
    struct ops_collector *collector = context;
    const struct sc_op_info *info = &sc_inflight_op(&collector->track->inflight, id)->info;
    if (info->unjudged)
        collector->unjudged = true;
    else
        sc_ops_add(collector->ops, info);
    return true;
}

void sc_track_conflicts(struct sc_track *track, const struct sc_op_info *info,
                        struct sc_ops *conflicts)
{
    struct ops_collector collector = {track, conflicts, false};
    conflicts->count = 0;
    if (info->unjudged)
        return;
    lock(track);
    sc_inflight_conflicts(&track->inflight, info, collect_op, &collector);
    unlock(track);
}

void sc_track_issue(struct sc_track *track, struct sc_op_info *info, struct sc_issued *issued)
{
    struct ops_collector collector = {track, &issued->conflicts, false};
    issued->conflicts.count = 0;
    issued->overwritten.count = 0;
    lock(track);
    atomic_store_explicit(&track->operations,
                          atomic_load_explicit(&track->operations, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    info->ticket = sc_order_issue(&track->order, info->ticket.stream);
    if (!info->unjudged)
        sc_inflight_conflicts(&track->inflight, info, collect_op, &collector);
    if (!sc_inflight_add(&track->inflight, info, &issued->overwritten) && info->slot)
        sc_staging_give(info->slot, &info->ticket);
    publish_watch(track);
    unlock(track);
}

/* ---- guards and snapshots ---- */

void sc_track_touched(struct sc_track *track, uintptr_t address, size_t size_bytes,
                      enum sc_touch touch, struct sc_ops *found)
{
    struct ops_collector collector = {track, found, false};
    found->count = 0;
    lock(track);
    sc_inflight_touched(&track->inflight, address, size_bytes, touch, collect_op, &collector);
    unlock(track);
}

void sc_track_seal(struct sc_track *track, uintptr_t address, size_t size_bytes,
                   struct sc_ops *overwritten)
{
    overwritten->count = 0;
    lock(track);
    sc_inflight_seal(&track->inflight, address, size_bytes, overwritten);
    unlock(track);
}

void sc_track_let_go(struct sc_track *track, uintptr_t address, size_t size_bytes,
                     enum sc_touch touch, bool keep_copies)
{
    lock(track);
    sc_inflight_let_go(&track->inflight, address, size_bytes, touch, keep_copies);
    unlock(track);
}

void sc_track_unguard(struct sc_track *track, const struct sc_ops *ops)
{
    lock(track);
    for (unsigned i = 0; i < ops->count && i < SC_TRACK_OPS_MAX; i++) {
        uint32_t op = sc_inflight_find(&track->inflight, &ops->ops[i]);
        if (op)
            sc_inflight_unguard(&track->inflight, op);
    }
    unlock(track);
}

void sc_track_unguard_all(struct sc_track *track)
{
    lock(track);
    sc_inflight_let_go(&track->inflight, 0, SIZE_MAX - track->inflight.guards.page_mask,
                       SC_TOUCH_WRITE, false);
    unlock(track);
}

void sc_track_lock_for_fork(struct sc_track *track)
{
    lock(track);
}

void sc_track_unlock_after_fork(struct sc_track *track, bool in_child)
{
    if (in_child)
        init_lock(&track->lock);
    else
        pthread_mutex_unlock(&track->lock);
    sc_track_inside--;
}

bool sc_track_settle_guards(struct sc_track *track, struct sc_guard_change *change)
{
    lock(track);
    bool more = sc_guards_settle(&track->inflight.guards, change);
    unlock(track);
    return more;
}

struct guarding_change {
    struct sc_track *track;
    enum sc_guarding guarding;
};

static bool set_guarding(void *context, uint32_t id)
{
    struct guarding_change *change = context;
    struct sc_range *range = sc_inflight_range(&change->track->inflight, id);
    atomic_store_explicit(&range->guarding, change->guarding, memory_order_release);
    return true;
}

void sc_track_set_guarding(struct sc_track *track, uintptr_t address, size_t size_bytes,
                           enum sc_guarding guarding)
{
    struct guarding_change change = {track, guarding};
    lock(track);
    sc_grid_overlaps_locked(&track->inflight.range_grid, address, size_bytes, set_guarding,
                            &change);
    if (guarding == SC_GUARDING_FORBIDDEN)
        sc_inflight_let_go(&track->inflight, address, size_bytes, SC_TOUCH_WRITE, false);
    unlock(track);
}

int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging, uint32_t range,
                       size_t size_bytes, struct sc_slot **slot, struct sc_staging_block *missing)
{
    int result = -EBUSY;
    lock(track);
    if (!may_conflict(sc_inflight_range(&track->inflight, range), false) &&
        !may_conflict(sc_inflight_range(&track->inflight, track->inflight.stray), false)) {
        *slot = sc_staging_take(staging, size_bytes);
        result = *slot ? 0 : -ENOSPC;
    }
    if (result == -ENOSPC && !sc_staging_next_block(staging, size_bytes, missing))
        missing->bytes = 0;
    unlock(track);
    return result;
}

void sc_track_add_slots(struct sc_track *track, struct sc_staging *staging,
                        const struct sc_staging_block *block, void *memory, struct sc_slot *records)
{
    lock(track);
    sc_staging_add(staging, block, memory, records);
    unlock(track);
}

void sc_track_give_slot(struct sc_track *track, struct sc_slot *slot)
{
    struct sc_ticket unused = slot->ticket;
    lock(track);
    sc_staging_give(slot, &unused);
    unlock(track);
}

/* ---- giving back ---- */

enum { TAKE_DOWN_BATCH = 64 };

struct op_batch {
    struct sc_track *track;
    bool complete_only;
    unsigned count;
    uint32_t ids[TAKE_DOWN_BATCH];
};

static bool note_op(void *context, uint32_t id)
{
    struct op_batch *batch = context;
    const struct sc_op *op = sc_inflight_op(&batch->track->inflight, id);
    if (!batch->complete_only || sc_order_complete(&batch->track->order, &op->info.ticket))
        batch->ids[batch->count++] = id;
    return batch->count < TAKE_DOWN_BATCH;
}

static void find_ops(struct sc_track *track, const struct sc_take_down *request,
                     sc_inflight_visit *visit, void *context)
{
    sc_inflight_overlaps(&track->inflight, request->address, request->size_bytes, visit, context);
}

struct hold_filler {
    struct sc_track *track;
    uint32_t hold;
    bool failed;
};

static bool require_op(void *context, uint32_t op)
{
    struct hold_filler *filler = context;
    struct sc_holds *holds = &filler->track->holds;
    const struct sc_op_info *info = &sc_inflight_op(&filler->track->inflight, op)->info;
    filler->failed = !sc_holds_require(holds, filler->hold, &info->ticket);
    sc_holds_at(holds, filler->hold)->written |= sc_direction_writes_host(info->direction);
    return !filler->failed;
}

/* A hold that waits for every operation in flight, or none. */
static bool make_hold(struct sc_track *track, struct sc_take_down *request)
{
    struct sc_holds *holds = &track->holds;
    if (request->kind != SC_HOLD_WAIT && request->kind != SC_HOLD_UNREGISTER &&
        holds->held_bytes + request->size_bytes > request->max_held_bytes)
        return false;
    uint64_t now_ns = sc_now_ns();
    struct hold_filler filler = {.track = track};
    filler.hold = sc_holds_add(holds, request->kind, request->address, request->size_bytes,
                               request->context, now_ns);
    if (!filler.hold)
        return false;
    find_ops(track, request, require_op, &filler);
    if (filler.failed) {
        sc_holds_remove(holds, filler.hold, now_ns);
        return false;
    }
    sc_holds_at(holds, filler.hold)->by_graph = request->by_graph;
    request->held = filler.hold;
    request->held_age = sc_holds_at(holds, filler.hold)->age;
    return true;
}

void sc_track_await(struct sc_track *track, const struct sc_ops *ops, struct sc_take_down *request)
{
    struct sc_holds *holds = &track->holds;
    bool known = true;
    lock(track);
    uint64_t now_ns = sc_now_ns();
    request->held =
        sc_holds_add(holds, SC_HOLD_WAIT, request->address, request->size_bytes, 0, now_ns);
    for (unsigned i = 0; request->held && known && i < ops->count && i < SC_TRACK_OPS_MAX; i++)
        known = sc_holds_require(holds, request->held, &ops->ops[i].ticket);
    if (request->held && !known) {
        sc_holds_remove(holds, request->held, now_ns);
        request->held = 0;
    }
    if (request->held)
        request->held_age = sc_holds_at(holds, request->held)->age;
    publish_watch(track);
    unlock(track);
}

static void drop_ops(struct sc_track *track, uintptr_t address, size_t size_bytes,
                     bool complete_only)
{
    struct op_batch batch = {.track = track, .complete_only = complete_only};
    do {
        batch.count = 0;
        sc_inflight_overlaps(&track->inflight, address, size_bytes, note_op, &batch);
        for (unsigned i = 0; i < batch.count; i++)
            sc_inflight_drop(&track->inflight, batch.ids[i]);
    } while (batch.count == TAKE_DOWN_BATCH);
}

void sc_track_take_down(struct sc_track *track, struct sc_take_down *request)
{
    struct ops_collector collector = {track, &request->found, false};
    request->found.count = 0;
    request->held = 0;
    request->must_wait = false;
    lock(track);
    find_ops(track, request, collect_op, &collector);
    request->by_graph = request->kind != SC_HOLD_WAIT &&
                        sc_graphs_name(&track->graphs, request->address, request->size_bytes);
    if (request->hold &&
        (request->found.count || collector.unjudged || request->by_graph ||
         sc_holds_overlapping(&track->holds, request->address, request->size_bytes)))
        request->must_wait = !make_hold(track, request);
    if ((request->found.count || collector.unjudged) && !request->must_wait)
        drop_ops(track, request->address, request->size_bytes, false);
    if (request->by_graph)
        sc_graphs_note_freed(&track->graphs, request->address, request->size_bytes, &request->by);
    publish_watch(track);
    unlock(track);
}

void sc_track_in_flight(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        struct sc_ops *found)
{
    struct ops_collector collector = {track, found, false};
    found->count = 0;
    lock(track);
    sc_inflight_overlaps(&track->inflight, address, size_bytes, collect_op, &collector);
    unlock(track);
}

struct hold_change {
    struct sc_holds *holds;
    const struct sc_ticket *ticket; /* to wait for; NULL: graphs are forgotten */
};

static bool change_hold(void *context, uint32_t id)
{
    const struct hold_change *change = context;
    struct sc_hold *hold = sc_holds_at(change->holds, id);
    if (!change->ticket)
        hold->by_graph = false;
    else if (hold->kind != SC_HOLD_WAIT)
        sc_holds_require(change->holds, id, change->ticket);
    return true;
}

static void change_holds(struct sc_track *track, uintptr_t address, size_t size_bytes,
                         const struct sc_ticket *ticket)
{
    struct hold_change change = {&track->holds, ticket};
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, address, size_bytes ? size_bytes : 1, change_hold,
                            &change);
    unlock(track);
}

void sc_track_forget_graph_holds(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    change_holds(track, address, size_bytes, NULL);
}

void sc_track_forget_graph_holds_of(struct sc_track *track, uint32_t context)
{
    lock(track);
    for (uint32_t id = track->holds.oldest; id; id = sc_holds_at(&track->holds, id)->next)
        if (sc_holds_at(&track->holds, id)->context == context)
            sc_holds_at(&track->holds, id)->by_graph = false;
    unlock(track);
}

void sc_track_hold_longer(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          const struct sc_ticket *ticket)
{
    change_holds(track, address, size_bytes, ticket);
}

struct earlier_search {
    struct sc_track *track;
    const struct sc_op_info *later;
    struct sc_ticket *tickets;
    unsigned count, max;
};

static bool note_earlier(void *context, uint32_t id)
{
    struct earlier_search *search = context;
    const struct sc_hold *hold = sc_holds_at(&search->track->holds, id);
    const struct sc_op_info *later = search->later;
    if (!hold->written && !sc_direction_writes_host(later->direction))
        return true;
    for (uint32_t i = 0; i < hold->ticket_count && search->count < search->max; i++)
        if (hold->tickets[i].stream != later->ticket.stream &&
            !sc_order_covers(&search->track->order, later->ticket.stream, &hold->tickets[i]))
            search->tickets[search->count++] = hold->tickets[i];
    return true;
}

unsigned sc_track_held_before(struct sc_track *track, const struct sc_op_info *info,
                              struct sc_ticket *tickets, unsigned max)
{
    struct earlier_search search = {track, info, tickets, 0, max};
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, info->shape.address,
                            sc_shape_hull_bytes(&info->shape), note_earlier, &search);
    unlock(track);
    return search.count;
}

/* Launches used the memory after it was freed. What is complete of them has no owner any more: the
 * memory's next one must not be accused of it. */
static void forget_users(struct sc_track *track, const struct sc_release *release)
{
    if (release->kind != SC_HOLD_WAIT && release->kind != SC_HOLD_UNREGISTER)
        drop_ops(track, release->address, release->size_bytes, true);
}

struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age)
{
    struct sc_release release = {0};
    lock(track);
    release.hold = sc_holds_take_ready(&track->holds, after_age);
    if (release.hold) {
        const struct sc_hold *hold = sc_holds_at(&track->holds, release.hold);
        release.kind = hold->kind;
        release.address = atomic_load_explicit(&hold->node.address, memory_order_relaxed);
        release.size_bytes = atomic_load_explicit(&hold->node.size_bytes, memory_order_relaxed);
        release.context = hold->context;
        release.since_ns = hold->since_ns;
        release.age = hold->age;
        forget_users(track, &release);
    }
    unlock(track);
    return release;
}

void sc_track_end_hold(struct sc_track *track, uint32_t hold)
{
    lock(track);
    sc_holds_remove(&track->holds, hold, sc_now_ns());
    publish_watch(track);
    unlock(track);
}

void sc_track_put_back(struct sc_track *track, uint32_t hold)
{
    lock(track);
    sc_holds_at(&track->holds, hold)->releasing = false;
    unlock(track);
}

/* Records are recycled; ages are not. */
bool sc_track_hold_lives(struct sc_track *track, uint32_t hold, uint64_t age)
{
    lock(track);
    bool lives = track->holds.oldest && sc_holds_at(&track->holds, hold)->age == age;
    unlock(track);
    return lives;
}

struct sc_hold_totals sc_track_hold_totals(struct sc_track *track)
{
    lock(track);
    struct sc_hold_totals totals = {track->holds.held_peak_bytes, track->holds.held_peak_ns};
    unlock(track);
    return totals;
}

unsigned sc_track_awaited(struct sc_track *track, struct sc_ticket *tickets, unsigned max)
{
    unsigned count = 0;
    lock(track);
    for (uint32_t id = track->holds.oldest; id; id = sc_holds_at(&track->holds, id)->next) {
        const struct sc_hold *hold = sc_holds_at(&track->holds, id);
        for (uint32_t i = 0; i < hold->ticket_count; i++) {
            if (sc_order_complete(&track->order, &hold->tickets[i]))
                continue;
            if (count < max)
                tickets[count] = hold->tickets[i];
            count++;
        }
    }
    unlock(track);
    return count;
}

bool sc_track_has_holds(struct sc_track *track)
{
    lock(track);
    bool holds = track->holds.oldest != 0;
    unlock(track);
    return holds;
}

/* A hold of pinned memory keeps the reaper busy until its operations are complete. */
bool sc_track_reaper_has_work(struct sc_track *track)
{
    bool work = sc_track_awaited(track, NULL, 0) != 0;
    lock(track);
    for (uint32_t id = track->holds.oldest; id && !work; id = sc_holds_at(&track->holds, id)->next)
        work = !sc_hold_needs_program(sc_holds_at(&track->holds, id)->kind) &&
               !sc_holds_wait_for_program(&track->holds, sc_holds_at(&track->holds, id));
    unlock(track);
    return work;
}

static bool note_reaped(void *context, uint32_t id)
{
    struct range_search *search = context;
    if (!sc_hold_needs_program(sc_holds_at(&search->track->holds, id)->kind))
        search->found = id;
    return !search->found;
}

bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    struct range_search search = {.track = track};
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, address, size_bytes ? size_bytes : 1, note_reaped,
                            &search);
    unlock(track);
    return search.found != 0;
}

static bool note_unregistered(void *context, uint32_t id)
{
    struct range_search *search = context;
    if (sc_holds_at(&search->track->holds, id)->kind == SC_HOLD_UNREGISTER)
        search->found = id;
    return !search->found;
}

struct held_search {
    struct sc_track *track;
    uintptr_t address;
    unsigned kinds; /* bit by enum sc_hold_kind */
    bool found;
};

static bool note_held(void *context, uint32_t id)
{
    struct held_search *search = context;
    const struct sc_hold *hold = sc_holds_at(&search->track->holds, id);
    search->found =
        (search->kinds >> hold->kind & 1) &&
        atomic_load_explicit(&hold->node.address, memory_order_relaxed) == search->address;
    return !search->found;
}

static bool is_held_as(struct sc_track *track, uintptr_t address, unsigned kinds)
{
    struct held_search search = {track, address, kinds, false};
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, address, 1, note_held, &search);
    unlock(track);
    return search.found;
}

bool sc_track_is_unregistered(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    struct range_search search = {.track = track};
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, address, size_bytes ? size_bytes : 1,
                            note_unregistered, &search);
    unlock(track);
    return search.found != 0;
}

static bool note_given_back(void *context, uint32_t id)
{
    struct range_search *search = context;
    if (sc_hold_needs_program(sc_holds_at(&search->track->holds, id)->kind))
        search->found = id;
    return !search->found;
}

bool sc_track_is_given_back(struct sc_track *track, uintptr_t address)
{
    struct range_search search = {.track = track};
    if (!sc_holds_may_overlap(&track->holds, address, 1))
        return false;
    lock(track);
    sc_grid_overlaps_locked(&track->holds.grid, address, 1, note_given_back, &search);
    unlock(track);
    return search.found != 0;
}

bool sc_track_is_freed(struct sc_track *track, uintptr_t address)
{
    return is_held_as(track, address, 1u << SC_HOLD_FREE | 1u << SC_HOLD_FREE_PINNED);
}
