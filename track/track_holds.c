/* The tracker's part for memory that goes back: what is in flight on it, and what waits. */
#include <string.h>

#include "track/checks.h"
#include "track/conflicts.h"
#include "track/track_internal.h"

#include "track/ticks.h"

#include "track/poison.h"

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

struct hurt_visit {
    struct sc_track *track;
    const struct sc_take_down *request;
    sc_inflight_visit *visit;
    void *context;
};

static bool visit_hurt(void *context, uint32_t id)
{
    const struct hurt_visit *hurt = context;
    return !hurt->request->hurts(&sc_inflight_op(&hurt->track->inflight, id)->info) ||
           hurt->visit(hurt->context, id);
}

static void find_ops(struct sc_track *track, const struct sc_take_down *request,
                     sc_inflight_visit *visit, void *context)
{
    struct hurt_visit hurt = {track, request, visit, context};
    sc_inflight_overlaps(&track->inflight, request->address, request->size_bytes,
                         request->hurts ? visit_hurt : visit, request->hurts ? &hurt : context);
}

struct hold_filler {
    struct sc_track *track;
    uint32_t hold;
    bool passes_kernels;
    bool failed;
};

/* The device reads the snapshot, so the memory need not stay. The driver's own memory does: to give
 * it back would make the driver wait. */
static bool does_without(const struct sc_hold *hold, const struct sc_op_info *info)
{
    return sc_ops_is_copied(info) && !sc_hold_is_drivers(hold->kind);
}

static bool require_op(void *context, uint32_t op)
{
    struct hold_filler *filler = context;
    struct sc_holds *holds = &filler->track->holds;
    const struct sc_op_info *info = &sc_inflight_op(&filler->track->inflight, op)->info;
    if (does_without(sc_holds_at(holds, filler->hold), info) ||
        (filler->passes_kernels && sc_ops_is_kernel(info)))
        return true;
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
    struct hold_filler filler = {.track = track, .passes_kernels = request->passes_kernels};
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
    for (unsigned i = 0; request->held && known && i < sc_ops_kept(ops); i++)
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

static void drop_ops(struct sc_track *track, const struct sc_take_down *request, bool complete_only)
{
    struct op_batch batch = {.track = track, .complete_only = complete_only};
    do {
        batch.count = 0;
        find_ops(track, request, note_op, &batch);
        for (unsigned i = 0; i < batch.count; i++)
            sc_inflight_drop(&track->inflight, batch.ids[i]);
    } while (batch.count == TAKE_DOWN_BATCH);
}

void sc_track_handed_out(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    const struct sc_take_down all = {.address = address, .size_bytes = size_bytes};
    lock(track);
    drop_ops(track, &all, false);
    publish_watch(track);
    unlock(track);
}

/* The memory goes back to the driver when the hold ends. Another thread may end the hold at any
 * time, and a range at the address is a new one from then on. */
static void end_range(struct sc_track *track, const struct sc_take_down *request)
{
    uint32_t range = sc_grid_point_locked(&track->inflight.range_grid, request->address);
    if (request->held && sc_hold_is_drivers(request->kind) && range)
        sc_inflight_remove_range(&track->inflight, range);
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

static void change_holds_locked(struct sc_track *track, uintptr_t address, size_t size_bytes,
                                const struct sc_ticket *ticket) SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    struct hold_change change = {&track->holds, ticket};
    sc_grid_overlaps_locked(&track->holds.grid, address, size_bytes ? size_bytes : 1, change_hold,
                            &change);
}

struct judged_visit {
    struct sc_ops_collector collector; /* first */
    struct sc_shape taken;
    bool passes_kernels;
    bool any; /* is to be held */
};

/* What lies between the rows of an operation is not used. It is held all the same: the pages are
 * guarded along with the rows. */
static bool judge_op(void *context, uint32_t id)
{
    struct judged_visit *judged = context;
    const struct sc_op_info *info = &sc_inflight_op(judged->collector.inflight, id)->info;
    judged->any |= !judged->passes_kernels || !sc_ops_is_kernel(info);
    if (sc_shape_row_touches_folded(&judged->taken, &info->shape, &info->fold))
        return sc_inflight_collect(&judged->collector, id);
    judged->collector.any_unjudged = true;
    return true;
}

void sc_track_take_down(struct sc_track *track, struct sc_take_down *request)
{
    struct judged_visit judged = {
        {&track->inflight, &request->found, false},
        {request->address, request->size_bytes, request->size_bytes, 1},
        request->passes_kernels,
        false,
    };
    request->found.count = 0;
    request->held = 0;
    request->must_wait = false;
    lock(track);
    if (request->settles && request->kind == SC_HOLD_WAIT)
        change_holds_locked(track, request->address, request->size_bytes, NULL);
    find_ops(track, request, judge_op, &judged);
    request->by_graph = request->kind != SC_HOLD_WAIT &&
                        sc_graphs_name(&track->graphs, request->address, request->size_bytes);
    if (request->hold &&
        (judged.any || request->by_graph ||
         sc_holds_find(&track->holds, request->address, request->size_bytes, SC_HOLDS_ALL)))
        request->must_wait = !make_hold(track, request);
    if ((request->found.count || judged.collector.any_unjudged) && !request->must_wait &&
        !request->stays)
        drop_ops(track, request, false);
    if (request->by_graph)
        sc_graphs_note_freed(&track->graphs, request->address, request->size_bytes, &request->by);
    end_range(track, request);
    publish_watch(track);
    unlock(track);
}

void sc_track_in_flight(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        struct sc_ops *found)
{
    struct sc_ops_collector collector = {&track->inflight, found, false};
    found->count = 0;
    lock(track);
    sc_inflight_overlaps(&track->inflight, address, size_bytes, sc_inflight_collect, &collector);
    unlock(track);
}

static bool note_any(void *found, uint32_t id)
{
    (void)id;
    *(bool *)found = true;
    return false;
}

bool sc_track_meets(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    bool found = false;
    lock(track);
    sc_inflight_overlaps(&track->inflight, address, size_bytes, note_any, &found);
    if (!found)
        sc_grid_overlaps_locked(&track->inflight.range_grid, address, size_bytes, note_any, &found);
    if (!found)
        found = sc_holds_find(&track->holds, address, size_bytes, SC_HOLDS_ALL) != 0;
    unlock(track);
    return found;
}

void sc_track_forget_graph_holds(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    lock(track);
    change_holds_locked(track, address, size_bytes, NULL);
    unlock(track);
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
    lock(track);
    change_holds_locked(track, address, size_bytes, ticket);
    unlock(track);
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
            !sc_conflicts_covers(&search->track->order, later, &hold->tickets[i]))
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
    const struct sc_take_down all = {.address = release->address,
                                     .size_bytes = release->size_bytes};
    if (release->kind != SC_HOLD_WAIT && release->kind != SC_HOLD_UNREGISTER)
        drop_ops(track, &all, true);
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
static bool lives_locked(struct sc_track *track, uint32_t hold, uint64_t age) SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    return track->holds.oldest && sc_holds_at(&track->holds, hold)->age == age;
}

bool sc_track_hold_lives(struct sc_track *track, uint32_t hold, uint64_t age)
{
    lock(track);
    bool lives = lives_locked(track, hold, age);
    unlock(track);
    return lives;
}

void sc_track_leave_hold(struct sc_track *track, uint32_t hold, uint64_t age)
{
    lock(track);
    if (lives_locked(track, hold, age) && !sc_holds_at(&track->holds, hold)->releasing)
        sc_holds_remove(&track->holds, hold, sc_now_ns());
    publish_watch(track);
    unlock(track);
}

struct sc_hold_totals sc_track_hold_totals(struct sc_track *track)
{
    lock(track);
    struct sc_hold_totals totals = {track->holds.held_peak_bytes, track->holds.held_peak_ns};
    unlock(track);
    return totals;
}

typedef void visit_ticket(void *context, const struct sc_ticket *ticket);

static void each_awaited_locked(struct sc_track *track, visit_ticket *visit, void *context)
    SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    for (uint32_t id = track->holds.oldest; id; id = sc_holds_at(&track->holds, id)->next) {
        const struct sc_hold *hold = sc_holds_at(&track->holds, id);
        for (uint32_t i = 0; i < hold->ticket_count; i++)
            if (!sc_order_complete(&track->order, &hold->tickets[i]))
                visit(context, &hold->tickets[i]);
    }
}

static void count_ticket(void *count, const struct sc_ticket *ticket)
{
    (void)ticket;
    ++*(unsigned *)count;
}

unsigned sc_track_awaited(struct sc_track *track)
{
    unsigned count = 0;
    lock(track);
    each_awaited_locked(track, count_ticket, &count);
    unlock(track);
    return count;
}

struct latest_tickets {
    uint32_t after;
    struct sc_ticket *tickets;
    unsigned count, max;
};

static unsigned place_of(const struct latest_tickets *latest, uint32_t stream)
{
    unsigned low = 0;
    unsigned high = latest->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (latest->tickets[middle].stream < stream)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A full list loses its highest stream to a lower one. */
static void note_latest(void *context, const struct sc_ticket *ticket)
{
    struct latest_tickets *latest = context;
    unsigned place = place_of(latest, ticket->stream);
    struct sc_ticket *at = &latest->tickets[place];
    if (ticket->stream <= latest->after || place == latest->max)
        return;
    if (place < latest->count && at->stream == ticket->stream) {
        if (at->number < ticket->number)
            *at = *ticket;
        return;
    }
    latest->count += latest->count < latest->max;
    memmove(at + 1, at, (latest->count - place - 1) * sizeof *at);
    *at = *ticket;
}

unsigned sc_track_awaited_streams(struct sc_track *track, uint32_t after, struct sc_ticket *tickets,
                                  unsigned max)
{
    struct latest_tickets latest = {after, tickets, 0, max};
    lock(track);
    each_awaited_locked(track, note_latest, &latest);
    unlock(track);
    return latest.count;
}

/* A hold of pinned memory keeps the reaper busy until its operations are complete. */
bool sc_track_reaper_has_work(struct sc_track *track)
{
    bool work = sc_track_awaited(track) != 0;
    lock(track);
    for (uint32_t id = track->holds.oldest; id && !work; id = sc_holds_at(&track->holds, id)->next)
        work = !sc_hold_is_drivers(sc_holds_at(&track->holds, id)->kind) &&
               !sc_holds_wait_for_program(&track->holds, sc_holds_at(&track->holds, id));
    unlock(track);
    return work;
}

static bool is_held_as(struct sc_track *track, uintptr_t address, size_t size_bytes, unsigned mask)
{
    if (!sc_holds_may_overlap(&track->holds, address, size_bytes ? size_bytes : 1))
        return false;
    lock(track);
    bool found = sc_holds_find(&track->holds, address, size_bytes, mask) != 0;
    unlock(track);
    return found;
}

bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    return is_held_as(track, address, size_bytes, SC_HOLDS_REAPERS);
}

bool sc_track_is_unregistered(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    return is_held_as(track, address, size_bytes, SC_HOLDS_UNREGISTERED);
}

bool sc_track_is_given_back(struct sc_track *track, uintptr_t address)
{
    return is_held_as(track, address, 1, SC_HOLDS_DRIVERS);
}

bool sc_track_is_freed(struct sc_track *track, uintptr_t address)
{
    return is_held_as(track, address, 1, SC_HOLDS_FREED | SC_HOLDS_STARTING);
}

bool sc_track_holds_for_graph(struct sc_track *track, uintptr_t address)
{
    return is_held_as(track, address, 1, SC_HOLDS_ALL | SC_HOLDS_BY_GRAPH);
}
