/* The tracker's functions for memory that is given back: what is in flight on it, and what waits.
 */
#include <string.h>

#include "common/now.h"
#include "track/graph_frees.h"
#include "track/track_holds.h"
#include "track/track_internal.h"
#include "track/track_ranges.h"

#include "common/poison.h"

enum { DROPPED_AT_ONCE = 64 };

/* Does the call that takes memory away hurt this operation? The caller may have a rule of its own
 * (`hurts`). */
static bool comes_too_early_for(const struct sc_deallocation *request, const struct sc_op *op)
{
    return !request->hurts || request->hurts(&op->info);
}

/* May the memory go back before the operation is done? If the device reads a snapshot (a copy made
 * at the issue), yes. The driver's own memory stays all the same: to give it back would make the
 * driver wait. */
static bool is_exempt_from_wait(const struct sc_hold *hold, const struct sc_op_info *info)
{
    return sc_ops_is_copied(info) && !sc_hold_is_drivers(hold->kind);
}

/* Makes the hold (the kept memory) wait for the operations of the request. Kernels, which only may
 * use it, are left out if the request says so. Returns false if there is no room for all: the hold
 * would end too early. */
static bool require_ops(struct sc_track *track, const struct sc_deallocation *request, uint32_t id)
{
    struct sc_hold *hold = sc_holds_at(&track->holds, id);
    SC_INFLIGHT_EACH (walk, &track->inflight, request->address, request->size_bytes) {
        const struct sc_op_info *info = &walk.op->info;
        if (!comes_too_early_for(request, walk.op) || is_exempt_from_wait(hold, info) ||
            (request->passes_kernels && sc_ops_is_kernel(info)))
            continue;
        hold->written |= sc_direction_writes_host(info->direction);
        if (!sc_holds_require(&track->holds, id, &info->ticket))
            return false;
    }
    return true;
}

/* Keeps the memory of the request until every operation in flight on it is done. Returns false if
 * that is not possible, for want of memory or beyond the option max_held: then the caller waits.
 * Kinds that keep no memory do not count. */
static bool make_hold(struct sc_track *track, struct sc_deallocation *request)
{
    struct sc_holds *holds = &track->holds;
    if (request->kind != SC_HOLD_WAIT && request->kind != SC_HOLD_UNREGISTER &&
        holds->held_bytes + request->size_bytes > request->max_held_bytes)
        return false;
    uint64_t now_ns = sc_now_ns();
    uint32_t hold = sc_holds_add(holds, request->kind, request->address, request->size_bytes,
                                 request->context, now_ns);
    if (!hold)
        return false;
    if (!require_ops(track, request, hold)) {
        sc_holds_remove(holds, hold, now_ns);
        return false;
    }
    sc_holds_at(holds, hold)->by_graph = request->by_graph;
    request->held = hold;
    request->held_age = sc_holds_at(holds, hold)->age;
    return true;
}

/* An early access is about to wait for the operations: makes a hold of a kind that keeps no memory,
 * and whose end wakes the thread. Without room for all of the operations none is made, since it
 * would end too early. */
void sc_track_add_wait(struct sc_track *track, const struct sc_ops *ops,
                       struct sc_deallocation *request)
{
    struct sc_holds *holds = &track->holds;
    bool has_room = true;
    lock(track);
    uint64_t now_ns = sc_now_ns();
    request->held =
        sc_holds_add(holds, SC_HOLD_WAIT, request->address, request->size_bytes, 0, now_ns);
    for (unsigned i = 0; request->held && has_room && i < sc_ops_count_kept(ops); i++)
        has_room = sc_holds_require(holds, request->held, &ops->ops[i].ticket);
    if (request->held && !has_room) {
        sc_holds_remove(holds, request->held, now_ns);
        request->held = 0;
    }
    if (request->held)
        request->held_age = sc_holds_at(holds, request->held)->age;
    publish_watch(track);
    unlock(track);
}

/* Forgets the operations on the request's memory, which will be another owner's; with
 * `complete_only` only those that are complete. A few at a time, since the index must not change
 * during a walk. */
static void drop_ops(struct sc_track *track, const struct sc_deallocation *request,
                     bool complete_only)
{
    uint32_t found[DROPPED_AT_ONCE];
    unsigned count;
    do {
        count = 0;
        SC_INFLIGHT_EACH (walk, &track->inflight, request->address, request->size_bytes) {
            if (comes_too_early_for(request, walk.op) &&
                (!complete_only || sc_order_complete(&track->order, &walk.op->info.ticket)))
                found[count++] = walk.at.id;
            if (count == DROPPED_AT_ONCE)
                break;
        }
        for (unsigned i = 0; i < count; i++)
            sc_inflight_drop(&track->inflight, found[i]);
    } while (count == DROPPED_AT_ONCE);
}

/* The memory is handed out: what is in flight there was a former owner's, and is forgotten. */
void sc_track_note_allocated(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    const struct sc_deallocation all = {.address = address, .size_bytes = size_bytes};
    lock(track);
    drop_ops(track, &all, /*complete_only*/ false);
    publish_watch(track);
    unlock(track);
}

/* The memory goes back to the driver when the hold (memory kept after a free) ends, which another
 * thread may do at any time after this: so its range (host memory known to the driver) is removed
 * now. A range at the address is a new one after that. */
static void remove_range_of_hold(struct sc_track *track, const struct sc_deallocation *request)
{
    uint32_t range = sc_grid_find_at_locked(&track->inflight.range_grid, request->address);
    if (request->held && sc_hold_is_drivers(request->kind) && range)
        sc_inflight_remove_range(&track->inflight, range);
}

/* Finds the operations that the call hurts, for the report. Sets *to_be_held if the memory has to
 * be kept for one of them. Returns whether there are others: of unknown order, or of which only
 * gaps between rows are taken away. Those are kept as well, since their pages are protected
 * together with the rows. */
static bool find_judged(struct sc_track *track, struct sc_deallocation *request, bool *to_be_held)
{
    const struct sc_shape taken = {request->address, request->size_bytes, request->size_bytes, 1};
    bool has_others = false;
    SC_INFLIGHT_EACH (walk, &track->inflight, request->address, request->size_bytes) {
        const struct sc_op_info *info = &walk.op->info;
        if (!comes_too_early_for(request, walk.op))
            continue;
        *to_be_held |= !request->passes_kernels || !sc_ops_is_kernel(info);
        has_others |= !sc_shape_row_touches_folded(&taken, &info->shape, &info->fold) ||
                      !sc_ops_add_judged(&request->found, info);
    }
    return has_others;
}

/* A call takes memory away: finds what is in flight there, keeps the memory for it if that is asked
 * for, and forgets the operations, unless the memory stays or the caller has to wait. The hold
 * (memory kept after a free) is made first, while the operations are known. Graphs that use the
 * memory are told; `settles` means that nothing is kept for them. */
void sc_track_deallocate(struct sc_track *track, struct sc_deallocation *request)
{
    bool to_be_held = false;
    request->found.count = 0;
    request->held = 0;
    request->must_wait = false;
    lock(track);
    if (request->settles && request->kind == SC_HOLD_WAIT)
        sc_holds_forget_graphs(&track->holds, request->address, request->size_bytes);
    bool has_others = find_judged(track, request, &to_be_held);
    request->by_graph = request->kind != SC_HOLD_WAIT &&
                        sc_graphs_name_memory(&track->graphs, request->address, request->size_bytes,
                                              request->kind == SC_HOLD_UNREGISTER);
    if (request->hold &&
        (to_be_held || request->by_graph ||
         sc_holds_find(&track->holds, request->address, request->size_bytes, SC_HOLDS_ALL)))
        request->must_wait = !make_hold(track, request);
    if ((request->found.count || has_others) && !request->must_wait && !request->stays)
        drop_ops(track, request, /*complete_only*/ false);
    if (request->by_graph)
        sc_graphs_note_freed(&track->graphs, request->address, request->size_bytes, &request->by);
    remove_range_of_hold(track, request);
    publish_watch(track);
    unlock(track);
}

/* Is anything known of the memory: an operation in flight, a range (host memory known to the
 * driver), or a hold (memory kept after a free)? */
bool sc_track_overlaps(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    lock(track);
    bool found = sc_inflight_begin_walk(&track->inflight, address, size_bytes).op ||
                 sc_grid_find_any(&track->inflight.range_grid, address, size_bytes) ||
                 sc_holds_find(&track->holds, address, size_bytes, SC_HOLDS_ALL);
    unlock(track);
    return found;
}

/* Held memory is about to go back: forgets complete operations that launches have made there after
 * the free. The next owner must not be reported because of them. */
static void drop_complete_ops(struct sc_track *track, const struct sc_release *release)
{
    const struct sc_deallocation all = {.address = release->address,
                                        .size_bytes = release->size_bytes};
    if (release->kind != SC_HOLD_WAIT && release->kind != SC_HOLD_UNREGISTER)
        drop_ops(track, &all, /*complete_only*/ true);
}

/* Hands out the oldest hold whose memory can go back. */
struct sc_release sc_track_take_ready(struct sc_track *track, uint64_t after_age)
{
    lock(track);
    const struct sc_release release =
        sc_holds_describe(&track->holds, sc_holds_take_ready(&track->holds, after_age));
    if (release.hold)
        drop_complete_ops(track, &release);
    unlock(track);
    return release;
}

/* Is memory in the interval kept by a hold (memory kept after a free) of this kind? Mostly there is
 * none, which is told without the lock. */
bool sc_track_is_held(struct sc_track *track, uintptr_t address, size_t size_bytes, unsigned mask)
{
    if (!sc_holds_may_overlap(&track->holds, address, size_bytes ? size_bytes : 1))
        return false;
    lock(track);
    bool found = sc_holds_find(&track->holds, address, size_bytes, mask) != 0;
    unlock(track);
    return found;
}
