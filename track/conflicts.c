#include "track/conflicts.h"

#include "common/checks.h"
#include "track/conflicts_internal.h"
#include "track/kernel_flags.h"
#include "track/ops.h"
#include "track/order.h"
#include "track/order_calls.h"
#include "track/ordering.h"

#include "common/poison.h"

struct conflict_visit {
    struct sc_inflight *inflight;
    const struct sc_op_info *later;
    struct sc_ops *found; /* NULL: the search ends at the first conflict */
    bool awaited;         /* only those that the host would have to wait for */
    bool is_over;
};

/* ---- the rule ---- */

/* Does the operation write the memory that it is recorded for? On device memory, unless it is known
 * to only read. */
static bool writes(const struct sc_op_info *info)
{
    return info->kind == SC_DEVICE ? !sc_ops_merely_reads(info)
                                   : sc_direction_writes_host(info->direction);
}

/* May the two disturb each other? A prefetch moves pages and changes no byte, so it disturbs
 * nothing. */
static bool either_writes_memory(const struct sc_op_info *a, const struct sc_op_info *b)
{
    return (writes(a) || writes(b)) && a->direction != SC_PREFETCH && b->direction != SC_PREFETCH;
}

bool sc_conflicts_share_written_byte(const struct sc_op_info *one, const struct sc_op_info *other)
{
    return either_writes_memory(one, other) &&
           sc_shapes_folded_touch(&one->shape, &one->fold, &other->shape, &other->fold);
}

bool sc_conflicts_is_ordered_after(struct sc_order *order, const struct sc_op_info *later,
                                   const struct sc_ticket *earlier)
{
    return sc_order_covers(order, later->ticket.stream, earlier) ||
           (later->after && sc_order_point_covers(later->after, earlier));
}

/* Is the later operation certain to come after the earlier one? On stream 0 it is an action of the
 * host, and comes after what the host knows to be done. */
static bool is_ordered(struct sc_order *order, const struct sc_op_info *later,
                       const struct sc_op_info *earlier)
{
    if (later->ticket.stream == 0)
        return earlier->direction == SC_ALLOCATION || sc_order_known_done(order, &earlier->ticket);
    return sc_conflicts_is_ordered_after(order, later, &earlier->ticket);
}

/* Has a kernel's flag told the host that the operation is done? If so, the host may use the memory,
 * and nothing conflicts. Flags say nothing of device memory. */
static bool has_told_by_flag(struct sc_inflight *inflight, uint32_t id)
{
    return sc_inflight_op(inflight, id)->info.kind != SC_DEVICE &&
           sc_kernel_flags_may_show_done(inflight, id);
}

/* Adds the earlier operation to the list. If only operations to be waited for are wanted, skips one
 * that is complete or whose source is copied. Without a list, ends the search. */
static void add_conflict(struct conflict_visit *search, const struct sc_op_info *earlier)
{
    bool is_done =
        search->awaited &&
        (sc_ops_is_copied(earlier) || sc_order_complete(search->inflight->order, &earlier->ticket));
    search->is_over = !search->found;
    if (search->found && !is_done)
        sc_ops_add(search->found, earlier);
}

/* Adds the operation if it conflicts with the later one. Returns false if the search is over, so
 * that the walk over the operations ends. */
static bool check_one_op(struct conflict_visit *search, uint32_t id)
{
    struct sc_order *order = search->inflight->order;
    const struct sc_op_info *earlier = &sc_inflight_op(search->inflight, id)->info;
    const struct sc_op_info *later = search->later;
    if (earlier->ticket.stream != later->ticket.stream &&
        sc_conflicts_share_written_byte(earlier, later) &&
        sc_ordering_between(sc_ops_unsure(order, earlier), sc_ops_unsure(order, later)) !=
            SC_ORDER_UNKNOWN &&
        !is_ordered(order, later, earlier) && !has_told_by_flag(search->inflight, id))
        add_conflict(search, earlier);
    return !search->is_over;
}

/* ---- where it looks ---- */

static uint32_t op_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->op_count, memory_order_relaxed);
}

/* Visits the operations in the list of the range. */
static void visit_range_ops(struct sc_inflight *inflight, const struct sc_range *range,
                            struct conflict_visit *search)
{
    for (uint32_t id = range->first_op; id && !search->is_over;
         id = sc_inflight_op(inflight, id)->range_next)
        check_one_op(search, id);
}

/* Visits the operations in the grids whose hulls overlap that of the later operation. */
static void visit_grid_ops(struct sc_grid *grid, struct sc_grid *behind,
                           struct conflict_visit *search)
{
    const struct sc_shape *shape = &search->later->shape;
    SC_GRID_EACH_OF_TWO (walk, grid, behind, shape->address, sc_shape_hull_bytes(shape))
        if (!check_one_op(search, walk.id))
            return;
}

/* Visits operations on host memory that may use the same bytes. These are in the same range, or in
 * no range if theirs was removed. So the two lists are walked, unless looking them up by address
 * would visit fewer records. */
static __attribute__((noinline)) void visit_host_ops(const struct sc_range *range,
                                                     const struct sc_range *no_range,
                                                     struct conflict_visit *search)
{
    struct sc_inflight *inflight = search->inflight;
    const struct sc_shape *shape = &search->later->shape;
    size_t hull_bytes = sc_shape_hull_bytes(shape);
    uint32_t count = op_count(range) + op_count(no_range);
    if (count <= sc_grid_overlap_cost(&inflight->op_grid, shape->address, hull_bytes) +
                     sc_grid_overlap_cost(&inflight->heap_grid, shape->address, hull_bytes)) {
        visit_range_ops(inflight, range, search);
        visit_range_ops(inflight, no_range, search);
    } else {
        visit_grid_ops(&inflight->op_grid, &inflight->heap_grid, search);
    }
}

/* Visits the operations in the range of the later one, and those in no range. */
static void visit_host(struct conflict_visit *search)
{
    static const struct sc_range nothing;
    struct sc_inflight *inflight = search->inflight;
    const struct sc_op_info *info = search->later;
    const struct sc_range *range =
        sc_inflight_range(inflight, sc_inflight_list_owner(inflight, info));
    const struct sc_range *no_range = info->range ? inflight->nowhere : &nothing;
    if (sc_shape_hull_bytes(&info->shape) != 0)
        visit_host_ops(range, no_range, search);
}

/* Finds the operations that conflict with `info`: those on device memory by address, those on host
 * memory by their range. */
bool sc_conflicts_search(struct sc_inflight *inflight, const struct sc_op_info *info, bool awaited,
                         struct sc_ops *found)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct conflict_visit search = {inflight, info, found, awaited, false};
    if (info->kind == SC_DEVICE)
        visit_grid_ops(&inflight->device_grid, NULL, &search);
    else
        visit_host(&search);
    return search.is_over;
}
