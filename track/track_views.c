#include "track/track_views.h"

#include "track/track_graphs.h"
#include "track/track_internal.h"
#include "track/track_parts.h"
#include "track/track_presence.h"

#include "common/poison.h"

/* ---- presence ---- */

/* Has the tracker anything of this kind? Read without the lock, so that most calls need not look
 * further. */
bool sc_track_has_any(struct sc_track *track, enum sc_presence what)
{
    struct sc_inflight *inflight = &track->inflight;
    switch (what) {
    case SC_HAS_RANGES:
        return !sc_grid_is_empty(&inflight->range_grid);
    case SC_HAS_MANAGED_RANGES:
        return atomic_load_explicit(&inflight->managed_count, memory_order_relaxed) != 0;
    case SC_HAS_OPERATIONS:
        return !sc_grid_is_empty(&inflight->op_grid) || !sc_grid_is_empty(&inflight->heap_grid);
    case SC_HAS_HOLDS:
        return !sc_grid_is_empty(&track->holds.grid);
    }
    return true;
}

/* May anything of these kinds be in the interval? Looks into the indexes by address, without the
 * lock. */
bool sc_track_may_have(struct sc_track *track, unsigned what, uintptr_t address, size_t size_bytes)
{
    struct sc_inflight *inflight = &track->inflight;
    struct sc_graphs *graphs = &track->graphs;
    return (what & SC_NEAR_HEAP_OPERATIONS &&
            sc_grid_may_overlap(&inflight->heap_grid, address, size_bytes)) ||
           (what & SC_NEAR_HOLDS && sc_grid_may_overlap(&track->holds.grid, address, size_bytes)) ||
           (what & SC_NEAR_HEAP_GRAPHS &&
            sc_grid_may_overlap(&graphs->heap_grid, address, size_bytes)) ||
           (what & SC_NEAR_HELD_OPERATIONS &&
            sc_grid_may_overlap(&inflight->op_grid, address, size_bytes)) ||
           (what & SC_NEAR_RANGES &&
            sc_grid_may_overlap(&inflight->range_grid, address, size_bytes));
}

/* Asked by each free() while copies are in flight: may anything of interest be there? The bounds of
 * the three indexes mostly tell that there is not. */
bool sc_track_heap_may_have(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    if (__builtin_expect(!sc_grid_may_reach(&track->inflight.heap_grid, address, size_bytes) &&
                             !sc_grid_may_reach(&track->holds.grid, address, size_bytes) &&
                             !sc_grid_may_reach(&track->graphs.heap_grid, address, size_bytes),
                         1))
        return false;
    return sc_track_may_have(track, SC_NEAR_HEAP, address, size_bytes);
}

/* ---- memory ---- */

/* How many operations on host memory were issued so far, for the summary. */
uint64_t sc_track_operations(struct sc_track *track)
{
    return atomic_load_explicit(&track->operations, memory_order_relaxed);
}

/* ---- parts with modules of their own ---- */

const struct sc_track_parts sc_track_parts = {
    .no_verdicts = &sc_track.no_verdicts,
    .guards = &sc_track.inflight.guards,
    .exempt_pages = &sc_track.inflight.exempt_pages,
    .attends = &sc_track.order.attends,
    .events = &sc_track.events,
    .range_blocks = &sc_track.inflight.range_blocks,
    .guarded_blocks = &sc_track.inflight.guards.ever,
    .busy_spans = &sc_track.inflight.guards.busy,
    .page_mask = &sc_track.inflight.guards.page_mask,
};

/* Returns the record of a graph or exec, without the lock; NULL: nothing is known of it. */
const struct sc_graph *sc_track_graph(struct sc_track *track, uintptr_t handle, uint32_t *id)
{
    *id = sc_graphs_find(&track->graphs, handle);
    return *id ? sc_graphs_at(&track->graphs, *id) : NULL;
}

/* Returns what only few uses of memory by nodes have (a free, a local variable), without the lock.
 */
const struct sc_graph_extra *sc_track_graph_extra(struct sc_track *track,
                                                  const struct sc_graph_use *use)
{
    return sc_graphs_extra(&track->graphs, use);
}

/* Asked by calls that are made too often to look further, as changes of a signal mask: may host
 * memory that the driver knows be near the object? One look into a set of blocks, without the lock.
 */
bool sc_track_range_may_be_near(struct sc_track *track, const void *object)
{
    return sc_blocks_may_hold_one(&track->inflight.range_blocks, (uintptr_t)object);
}
