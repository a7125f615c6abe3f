/* The tracker's part for memory that goes back: what is in flight on it, and what waits. */
#include <string.h>

#include "track/graph_frees.h"
#include "track/now.h"
#include "track/track_holds.h"
#include "track/track_internal.h"
#include "track/track_ranges.h"

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

void sc_track_handed_out(struct sc_track *track, uintptr_t address, size_t size_bytes, bool again)
{
    const struct sc_take_down all = {.address = address, .size_bytes = size_bytes};
    lock(track);
    drop_ops(track, &all, false);
    if (again)
        sc_graphs_note_registered(&track->graphs, address, size_bytes);
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
        sc_holds_forget_graphs(&track->holds, request->address, request->size_bytes);
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

bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes, unsigned mask)
{
    if (!sc_holds_may_overlap(&track->holds, address, size_bytes ? size_bytes : 1))
        return false;
    lock(track);
    bool found = sc_holds_find(&track->holds, address, size_bytes, mask) != 0;
    unlock(track);
    return found;
}
