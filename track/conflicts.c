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

/* Does the operation write the memory that it is recorded for? On device memory yes, unless it is
 * known to only read. */
static bool writes(const struct sc_op_info *info)
{
    return info->kind == SC_DEVICE ? !sc_ops_merely_reads(info)
                                   : sc_direction_writes_host(info->direction);
}

/* May the two disturb each other? Two reads do not, and a prefetch moves pages and changes no byte.
 */
static bool either_writes_memory(const struct sc_op_info *a, const struct sc_op_info *b)
{
    return (writes(a) || writes(b)) && a->direction != SC_PREFETCH && b->direction != SC_PREFETCH;
}

/* Do both use a common byte, and does one of them write it? Their order is not looked at. */
bool sc_conflicts_share_written_byte(const struct sc_op_info *one, const struct sc_op_info *other)
{
    return either_writes_memory(one, other) &&
           sc_shapes_folded_touch(&one->shape, &one->fold, &other->shape, &other->fold);
}

/* Is the later operation, which is not issued yet, ordered after the earlier one: by its stream, or
 * by what else it will come after (`after`)? */
bool sc_conflicts_is_ordered_after(struct sc_order *order, const struct sc_op_info *later,
                                   const struct sc_ticket *earlier)
{
    return sc_order_covers(order, later->ticket.stream, earlier) ||
           (later->after && sc_order_point_covers(later->after, earlier));
}

/* Is the later operation certain to come after the earlier one? On stream 0 it is an action of the
 * host, and comes after what the host knows to be done; an allocation in flight does not forbid it.
 */
static bool is_ordered(struct sc_order *order, const struct sc_op_info *later,
                       const struct sc_op_info *earlier)
{
    if (later->ticket.stream == 0)
        return earlier->direction == SC_ALLOCATION || sc_order_known_done(order, &earlier->ticket);
    return sc_conflicts_is_ordered_after(order, later, &earlier->ticket);
}

/* May the host have learnt of the operation's end by a flag (a word in memory that a kernel sets)?
 * Then it may use the memory, and nothing conflicts. On device memory the host polls nothing. */
static bool has_told_by_flag(struct sc_inflight *inflight, uint32_t id)
{
    return sc_inflight_op(inflight, id)->info.kind != SC_DEVICE &&
           sc_kernel_flags_may_show_done(inflight, id);
}

/* Lists the earlier operation, which conflicts. If the host only wants to know what to wait for
 * (`awaited`), leaves out one that is complete, or of which the device reads a snapshot. Without a
 * list the search ends here. */
static void add_conflict(struct conflict_visit *search, const struct sc_op_info *earlier)
{
    bool is_done =
        search->awaited &&
        (sc_ops_is_copied(earlier) || sc_order_complete(search->inflight->order, &earlier->ticket));
    search->is_over = !search->found;
    if (search->found && !is_done)
        sc_ops_add(search->found, earlier);
}

/* Does this earlier operation conflict with the later one: another stream, a common byte that one
 * writes, an order that is known and not certain, and no flag of a kernel? Returns false if the
 * search is over, so that the walk ends. */
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

/* How many operations in flight lie in the range (host memory known to the driver). */
static uint32_t op_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->op_count, memory_order_relaxed);
}

/* Looks at all operations of the range (a piece of host memory that the driver knows). */
static void visit_range_ops(struct sc_inflight *inflight, const struct sc_range *range,
                            struct conflict_visit *search)
{
    for (uint32_t id = range->first_op; id && !search->is_over;
         id = sc_inflight_op(inflight, id)->range_next)
        check_one_op(search, id);
}

/* Looks at the operations whose bytes may overlap the later operation's, by the indexes by address.
 */
static void visit_grid_ops(struct sc_grid *grid, struct sc_grid *behind,
                           struct conflict_visit *search)
{
    const struct sc_shape *shape = &search->later->shape;
    SC_GRID_EACH_OF_TWO (walk, grid, behind, shape->address, sc_shape_hull_bytes(shape))
        if (!check_one_op(search, walk.id))
            return;
}

/* Looks at operations on host memory that may use the same bytes. They are in the same range (host
 * memory known to the driver), or in no range if theirs was removed. Both lists are walked, unless
 * the indexes by address have fewer cells to visit. */
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

/* Looks at the operations in the later one's range (host memory known to the driver), and at those
 * in no range. If it is in no range itself, both are one list, which is not walked twice. An
 * operation without bytes meets nothing. */
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

/* Finds the operations in flight that conflict with `info`. Returns true if the search ended at the
 * first one (`found` NULL). */
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
