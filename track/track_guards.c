/* The tracker's part for guarded pages and snapshots. */
#include <errno.h>

#include "track/comparisons.h"
#include "track/track_internal.h"

#include "track/poison.h"

/* To look through all streams is dear. */
enum { FORGOTTEN_FOR_SLOT_MAX = 16, LOOK_FOR_KEPT_EVERY = 64 };

void sc_track_touched(struct sc_track *track, uintptr_t address, size_t size_bytes,
                      enum sc_touch touch, struct sc_ops *found)
{
    struct sc_ops_collector collector = {track, found, false};
    found->count = 0;
    lock(track);
    sc_inflight_touched(&track->inflight, address, size_bytes, touch, sc_track_collect_op,
                        &collector);
    unlock(track);
}

void sc_track_note_awaited(struct sc_track *track, const struct sc_ticket *ticket)
{
    lock(track);
    track->awaited = *ticket;
    unlock(track);
}

void sc_track_touched_beside(struct sc_track *track, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found)
{
    struct sc_ops_collector collector = {track, found, false};
    found->count = 0;
    lock(track);
    if (track->awaited.stream && !sc_order_known_done(&track->order, &track->awaited))
        sc_inflight_touched_beside(&track->inflight, address, size_bytes, touch,
                                   sc_track_collect_op, &collector);
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
                     enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason)
{
    struct sc_unwatched unwatched = {0, 0};
    lock(track);
    sc_inflight_let_go(&track->inflight, address, size_bytes, touch, keep_copies, &unwatched);
    unlock(track);
    sc_no_verdicts_add_unwatched(&track->no_verdicts, reason, unwatched.operations,
                                 unwatched.bytes);
}

static struct sc_op *find_op(struct sc_track *track, const struct sc_op_info *info)
{
    uint32_t id = sc_inflight_find(&track->inflight, info);
    return id ? sc_inflight_op(&track->inflight, id) : NULL;
}

void sc_track_find_unaccused(struct sc_track *track, const struct sc_ops *ops, int32_t thread,
                             struct sc_ops *fresh)
{
    fresh->count = 0;
    lock(track);
    for (unsigned i = 0; i < sc_ops_kept(ops); i++) {
        const struct sc_op *op = find_op(track, &ops->ops[i]);
        if (!op || op->accused != thread)
            sc_ops_add(fresh, &ops->ops[i]);
    }
    unlock(track);
}

void sc_track_accuse(struct sc_track *track, const struct sc_ops *ops, int32_t thread)
{
    lock(track);
    for (unsigned i = 0; i < sc_ops_kept(ops); i++) {
        struct sc_op *op = find_op(track, &ops->ops[i]);
        if (op)
            op->accused = thread;
    }
    unlock(track);
}

void sc_track_unguard_complete(struct sc_track *track, struct sc_ops *ops)
{
    unsigned kept = 0;
    lock(track);
    for (unsigned i = 0; i < sc_ops_kept(ops); i++) {
        uint32_t op = sc_inflight_find(&track->inflight, &ops->ops[i]);
        if (op && !sc_order_complete(&track->order, &ops->ops[i].ticket))
            ops->ops[kept++] = ops->ops[i];
        else if (op)
            sc_inflight_unguard(&track->inflight, op);
    }
    ops->count = kept;
    unlock(track);
}

void sc_track_unguard(struct sc_track *track, const struct sc_ops *ops)
{
    lock(track);
    for (unsigned i = 0; i < sc_ops_kept(ops); i++) {
        uint32_t op = sc_inflight_find(&track->inflight, &ops->ops[i]);
        if (op)
            sc_inflight_unguard(&track->inflight, op);
    }
    unlock(track);
}

static uintptr_t whole_pages_end(const struct sc_track *track)
{
    return SIZE_MAX - track->inflight.guards.page_mask;
}

void sc_track_unguard_all(struct sc_track *track)
{
    struct sc_unwatched unused = {0, 0};
    lock(track);
    sc_inflight_let_go(&track->inflight, 0, whole_pages_end(track), SC_TOUCH_WRITE, false, &unused);
    unlock(track);
}

static bool note_given_up(void *context, uint32_t span)
{
    struct sc_track *track = context;
    uint32_t id = sc_spans_at(&track->inflight.guards, span)->op;
    const struct sc_op *op = sc_inflight_op(&track->inflight, id);
    if (op->first_span == span)
        sc_no_verdicts_note_unwatched(&track->no_verdicts, SC_NO_VERDICT_MAPPINGS,
                                      sc_shape_hull_bytes(&op->info.shape));
    return true;
}

void sc_track_give_up_guards(struct sc_track *track)
{
    lock(track);
    sc_grid_overlaps_locked(&track->inflight.guards.grid, 0, whole_pages_end(track), note_given_up,
                            track);
    unlock(track);
    sc_track_unguard_all(track);
}

bool sc_track_apply_guards(struct sc_track *track, unsigned lane, struct sc_access_change *change)
{
    bool more;
    lock(track);
    do
        more = sc_spans_apply(&track->inflight.guards, lane, change);
    while (more && !change->size_bytes);
    unlock(track);
    return more;
}

void sc_track_refuse_guard(struct sc_track *track, const struct sc_access_change *change,
                           enum sc_no_verdict_reason reason)
{
    lock(track);
    uint32_t op = sc_spans_refuse(&track->inflight.guards, change);
    if (op) {
        sc_no_verdicts_note_unwatched(
            &track->no_verdicts, reason,
            sc_shape_hull_bytes(&sc_inflight_op(&track->inflight, op)->info.shape));
        sc_inflight_unguard(&track->inflight, op);
    }
    unlock(track);
}

bool sc_track_postpone_guard(struct sc_track *track, unsigned lane,
                             const struct sc_access_change *change)
{
    lock(track);
    bool postponed = sc_spans_postpone(&track->inflight.guards, lane, change);
    unlock(track);
    return postponed;
}

bool sc_track_retry_guards(struct sc_track *track, unsigned lane)
{
    if (!sc_spans_has_refused(&track->inflight.guards, lane))
        return false;
    lock(track);
    bool any = sc_spans_retry(&track->inflight.guards, lane);
    unlock(track);
    return any;
}

bool sc_track_move_guards(struct sc_track *track, uintptr_t address)
{
    lock(track);
    bool moved = sc_spans_move_area(&track->inflight.guards, address);
    unlock(track);
    return moved;
}

enum sc_access sc_track_guarded_access(struct sc_track *track, uintptr_t address)
{
    lock(track);
    enum sc_access access = sc_spans_access(&track->inflight.guards, address);
    unlock(track);
    return access;
}

bool sc_track_watches(struct sc_track *track, uintptr_t address, enum sc_touch touch)
{
    lock(track);
    bool watches = sc_inflight_watches(&track->inflight, address, touch);
    unlock(track);
    return watches;
}

bool sc_track_guards_cover(struct sc_track *track, uintptr_t address)
{
    lock(track);
    bool covered = sc_spans_cover(&track->inflight.guards, address);
    unlock(track);
    return covered;
}

struct change {
    struct sc_track *track;
    void (*apply)(struct sc_range *range, uint32_t value);
    uint32_t value;
};

static bool change_range(void *context, uint32_t id)
{
    const struct change *change = context;
    change->apply(sc_inflight_range(&change->track->inflight, id), change->value);
    return true;
}

static void change_ranges(struct sc_track *track, uintptr_t address, size_t size_bytes,
                          void (*apply)(struct sc_range *range, uint32_t value), uint32_t value)
{
    struct change change = {track, apply, value};
    sc_grid_overlaps_locked(&track->inflight.range_grid, address, size_bytes, change_range,
                            &change);
}

/* Memory that was found forbidden stays so, whoever has looked at it in the meantime. */
static void set_guarding(struct sc_range *range, uint32_t guarding)
{
    if (atomic_load_explicit(&range->guarding, memory_order_relaxed) != SC_GUARDING_FORBIDDEN)
        atomic_store_explicit(&range->guarding, guarding, memory_order_release);
}

void sc_track_set_guarding(struct sc_track *track, uintptr_t address, size_t size_bytes,
                           enum sc_guarding guarding)
{
    struct sc_unwatched unwatched = {0, 0};
    lock(track);
    change_ranges(track, address, size_bytes, set_guarding, guarding);
    if (guarding == SC_GUARDING_FORBIDDEN)
        sc_inflight_let_go(&track->inflight, address, size_bytes, SC_TOUCH_WRITE, false,
                           &unwatched);
    unlock(track);
    sc_no_verdicts_add_unwatched(&track->no_verdicts, SC_NO_VERDICT_MEMORY, unwatched.operations,
                                 unwatched.bytes);
}

static void limit_snapshots(struct sc_range *range, uint32_t snapshots)
{
    if (atomic_load_explicit(&range->snapshots, memory_order_relaxed) < snapshots)
        atomic_store_explicit(&range->snapshots, snapshots, memory_order_release);
}

void sc_track_limit_snapshots(struct sc_track *track, uintptr_t address, size_t size_bytes,
                              enum sc_snapshots snapshots)
{
    lock(track);
    change_ranges(track, address, size_bytes, limit_snapshots, snapshots);
    sc_comparisons_await_all(&track->inflight);
    unlock(track);
}

bool sc_track_is_stable(struct sc_track *track, const struct sc_op_info *info)
{
    lock(track);
    bool stable = sc_inflight_is_stable(&track->inflight, info);
    unlock(track);
    return stable;
}

/* Snapshots of operations that are complete make room for those of new ones. */
static struct sc_slot *take_slot(struct sc_track *track, struct sc_staging *staging,
                                 const struct sc_slot_source *source,
                                 struct sc_staging_block *missing)
{
    size_t size_bytes = sc_shape_used_bytes(source->shape, source->fold);
    struct sc_slot *slot = sc_staging_take(staging, size_bytes);
    if (slot || sc_staging_next_block(staging, size_bytes, missing))
        return slot;
    missing->bytes = 0;
    if (staging->wanting++ % LOOK_FOR_KEPT_EVERY == 0) {
        sc_staging_give_all_kept(&track->order);
        slot = sc_staging_take(staging, size_bytes);
    }
    for (unsigned i = 0; i < FORGOTTEN_FOR_SLOT_MAX && !slot; i++) {
        if (!sc_inflight_forget_complete(&track->inflight, source->stream))
            break;
        slot = sc_staging_take(staging, size_bytes);
    }
    publish_watch(track);
    return slot;
}

/* May something that is in flight write the source? Of its range any bytes count, which is quickly
 * seen. What is in flight in no range is other memory mostly. */
static bool is_written(struct sc_track *track, const struct sc_slot_source *source)
{
    struct sc_inflight *inflight = &track->inflight;
    return (source->range &&
            atomic_load_explicit(&sc_inflight_range(inflight, source->range)->writer_count,
                                 memory_order_relaxed) != 0) ||
           sc_inflight_is_written(inflight, source->range, source->shape);
}

int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing)
{
    int result = -EBUSY;
    bool may_be_written = sc_inflight_may_be_written(&track->inflight, source->range);
    if (!may_be_written) {
        *slot = sc_staging_take_kept(staging, source->stream,
                                     sc_shape_used_bytes(source->shape, source->fold));
        if (*slot)
            return 0;
    }
    lock(track);
    if (!may_be_written || !is_written(track, source)) {
        *slot = take_slot(track, staging, source, missing);
        result = *slot ? 0 : -ENOSPC;
    }
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

void sc_track_end_slots(struct sc_track *track, struct sc_staging *staging)
{
    lock(track);
    sc_staging_end(staging);
    unlock(track);
}

void sc_track_give_slot(struct sc_track *track, struct sc_slot *slot)
{
    struct sc_ticket unused = slot->ticket;
    lock(track);
    sc_staging_give(slot, &unused);
    unlock(track);
}
