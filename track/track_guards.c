/* The tracker's part for guarded pages and snapshots. */
#include <errno.h>

#include "track/track_parts.h"

#include "track/poison.h"

void sc_track_touched(struct sc_track *track, uintptr_t address, size_t size_bytes,
                      enum sc_touch touch, struct sc_ops *found)
{
    struct sc_ops_collector collector = {track, found, false};
    found->count = 0;
    lock(track);
    sc_inflight_touched(&track->inflight, address, size_bytes, touch, sc_collect_op, &collector);
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

bool sc_track_settle_guards(struct sc_track *track, struct sc_guard_change *change)
{
    lock(track);
    bool more = sc_guards_settle(&track->inflight.guards, change);
    unlock(track);
    return more;
}

enum sc_access sc_track_guarded_access(struct sc_track *track, uintptr_t address)
{
    lock(track);
    enum sc_access access = sc_guards_access(&track->inflight.guards, address);
    unlock(track);
    return access;
}

void sc_track_keep_guards_busy(struct sc_track *track, bool busy)
{
    lock(track);
    sc_guards_keep_busy(&track->inflight.guards, busy);
    unlock(track);
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

static void set_guarding(struct sc_range *range, uint32_t guarding)
{
    atomic_store_explicit(&range->guarding, guarding, memory_order_release);
}

void sc_track_set_guarding(struct sc_track *track, uintptr_t address, size_t size_bytes,
                           enum sc_guarding guarding)
{
    lock(track);
    change_ranges(track, address, size_bytes, set_guarding, guarding);
    if (guarding == SC_GUARDING_FORBIDDEN)
        sc_inflight_let_go(&track->inflight, address, size_bytes, SC_TOUCH_WRITE, false);
    unlock(track);
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
    unlock(track);
}

int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging, uint32_t range,
                       size_t size_bytes, struct sc_slot **slot, struct sc_staging_block *missing)
{
    int result = -EBUSY;
    lock(track);
    if (!sc_track_may_conflict(track, range, SC_H2D)) {
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
