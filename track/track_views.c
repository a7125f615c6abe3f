#include "track/track_views.h"

#include "track/track_internal.h"

#include "track/poison.h"

/* ---- memory ---- */

bool sc_track_has_operations(struct sc_track *track)
{
    return !sc_grid_is_empty(&track->inflight.op_grid) ||
           !sc_grid_is_empty(&track->inflight.heap_grid);
}

bool sc_track_has_holds(struct sc_track *track)
{
    return !sc_grid_is_empty(&track->holds.grid);
}

bool sc_track_may_have_operation(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_overlap(&track->inflight.op_grid, address, size_bytes) ||
           sc_track_may_have_heap_operation(track, address, size_bytes);
}

bool sc_track_may_have_heap_operation(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_overlap(&track->inflight.heap_grid, address, size_bytes);
}

bool sc_track_may_have_hold(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    return sc_holds_may_overlap(&track->holds, address, size_bytes);
}

uint64_t sc_track_operations(struct sc_track *track)
{
    return atomic_load_explicit(&track->operations, memory_order_relaxed);
}

/* ---- parts with modules of their own ---- */

struct sc_no_verdicts *sc_track_no_verdicts(struct sc_track *track)
{
    return &track->no_verdicts;
}

struct sc_kept_off *sc_track_kept_off(struct sc_track *track)
{
    return &track->inflight.kept_off;
}

void sc_track_init_staging(struct sc_track *track, struct sc_staging *staging,
                           size_t snapshot_max_bytes)
{
    sc_staging_init(staging, &track->order, snapshot_max_bytes);
}

uint32_t sc_track_graph_find(struct sc_track *track, uintptr_t handle)
{
    return sc_graphs_find(&track->graphs, handle);
}

const struct sc_graph *sc_track_graph(struct sc_track *track, uint32_t graph)
{
    return sc_graphs_at(&track->graphs, graph);
}

const struct sc_graph_extra *sc_track_graph_extra(struct sc_track *track,
                                                  const struct sc_graph_use *use)
{
    return sc_graphs_extra(&track->graphs, use);
}

bool sc_track_has_orphans(struct sc_track *track)
{
    return track->graphs.orphan_count;
}

/* ---- what may be in flight ---- */

bool sc_track_is_seen(struct sc_track *track, uint32_t stream)
{
    return sc_unseen_none(&track->order.unseen) ||
           sc_track_unseen_behind(track, stream, NULL).waits == 0;
}

bool sc_track_reads_managed(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.managed_source_count, memory_order_relaxed) != 0;
}

static __attribute__((noinline)) bool may_be_held_or_named(struct sc_track *track,
                                                           uintptr_t address, size_t size_bytes)
{
    return sc_grid_may_overlap(&track->holds.grid, address, size_bytes) ||
           sc_grid_may_overlap(&track->graphs.heap_grid, address, size_bytes);
}

bool sc_track_may_be_busy(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    if (sc_grid_may_overlap(&track->inflight.heap_grid, address, size_bytes))
        return true;
    return (!sc_grid_is_empty(&track->holds.grid) || !sc_grid_is_empty(&track->graphs.heap_grid)) &&
           may_be_held_or_named(track, address, size_bytes);
}

bool sc_track_range_may_be_near(struct sc_track *track, const void *object)
{
    return sc_blocks_may_hold_one(&track->inflight.range_blocks, (uintptr_t)object);
}
