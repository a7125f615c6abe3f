#include "track/device.h"

#include <string.h>

#include "common/checks.h"
#include "common/shape.h"
#include "common/trace.h"
#include "track/conflicts.h"
#include "track/consistency.h"
#include "track/inflight_internal.h"
#include "track/no_verdicts.h"
#include "track/order.h"

#include "common/poison.h"

enum { DROPPED_AT_ONCE = 32, RETIRED_AT_ONCE = 4 };

/* What is recorded of the operation with this id. */
static struct sc_op_info *info_at(struct sc_inflight *inflight, uint32_t id)
{
    return &sc_inflight_op(inflight, id)->info;
}

/* Returns the record in whose list all operations on device memory are, the latest first. */
static const struct sc_range *device_list(struct sc_inflight *inflight)
{
    return sc_inflight_range(inflight, inflight->device_memory);
}

/* How many operations on device memory are recorded. */
static uint32_t count_ops(struct sc_inflight *inflight)
{
    return atomic_load_explicit(&device_list(inflight)->op_count, memory_order_relaxed);
}

/* Does the host know the operation to be done? Then nothing conflicts with it, and it can be
 * forgotten. */
static bool is_known_done(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_order_known_done(inflight->order, &info->ticket);
}

/* ---- what a later one stands for ---- */

/* Does the outer operation use all bytes of the inner one? So if both have the same rows, or the
 * outer one has no gaps and covers the inner one. */
static bool contains_bytes(const struct sc_op_info *outer, const struct sc_op_info *inner)
{
    size_t offset = inner->shape.address - outer->shape.address;
    size_t outer_bytes = sc_shape_hull_bytes(&outer->shape);
    size_t inner_bytes = sc_shape_hull_bytes(&inner->shape);
    bool equal = memcmp(&outer->shape, &inner->shape, sizeof outer->shape) == 0 &&
                 memcmp(&outer->fold, &inner->fold, sizeof outer->fold) == 0;
    return equal || (sc_shape_is_whole(&outer->shape, &outer->fold) && offset <= outer_bytes &&
                     inner_bytes <= outer_bytes - offset);
}

/* Is the later operation as certain to take place as the earlier one? One that a launch may leave
 * out cannot stand for one that takes place. */
static bool is_as_certain(const struct sc_op_info *later, const struct sc_op_info *earlier)
{
    return !(later->unsure & ~earlier->unsure & SC_UNSURE_LEFT_OUT);
}

/* May the later operation stand for the earlier one, which is forgotten then? It has to come after
 * it, use all of its bytes, write if it writes, and be as certain. Then whatever is unordered with
 * the earlier one is unordered with the later one, too. */
static bool may_replace(struct sc_inflight *inflight, const struct sc_op_info *later,
                        const struct sc_op_info *earlier)
{
    return (!sc_ops_merely_reads(later) || sc_ops_merely_reads(earlier)) &&
           is_as_certain(later, earlier) && contains_bytes(later, earlier) &&
           sc_conflicts_is_ordered_after(inflight->order, later, &earlier->ticket);
}

/* Forgets operations at these bytes that are done, or that `later` stands for. A few at a time: the
 * next operation there forgets more. */
static void drop_replaced_ops(struct sc_inflight *inflight, const struct sc_op_info *later)
{
    uint32_t found[DROPPED_AT_ONCE];
    unsigned count = 0;
    SC_GRID_EACH (walk, &inflight->device_grid, later->shape.address,
                  sc_shape_hull_bytes(&later->shape)) {
        const struct sc_op_info *earlier = info_at(inflight, walk.id);
        if (is_known_done(inflight, earlier) || may_replace(inflight, later, earlier))
            found[count++] = walk.id;
        if (count == DROPPED_AT_ONCE)
            break;
    }
    for (unsigned i = 0; i < count; i++)
        sc_inflight_free_record(inflight, found[i]);
}

/* Forgets the oldest operations that are done. If the index is full also one that is not, of which
 * conflicts would be missed: that is counted as not judged. */
static void retire_oldest(struct sc_inflight *inflight)
{
    for (unsigned i = 0; i < RETIRED_AT_ONCE && device_list(inflight)->last_op; i++) {
        uint32_t oldest = device_list(inflight)->last_op;
        bool is_known = is_known_done(inflight, info_at(inflight, oldest));
        if (count_ops(inflight) < SC_DEVICE_OPS_MAX && !is_known)
            return;
        sc_no_verdicts_add(inflight->no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM,
                           !is_known);
        sc_inflight_free_record(inflight, oldest);
    }
}

/* Records an operation on device memory; one without bytes conflicts with nothing. First forgets
 * operations that are done, and earlier ones that this one can stand for, since whatever conflicts
 * with them conflicts with it: so a loop over one buffer takes one record. */
void sc_device_add(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_TRACE("device-op-add stream number address bytes", info->ticket.stream, info->ticket.number,
             info->shape.address, info->shape.width_bytes);
    if (sc_shape_hull_bytes(&info->shape) == 0)
        return;
    retire_oldest(inflight);
    drop_replaced_ops(inflight, info);
    sc_inflight_make_record(inflight, info);
    SC_CHECK_OF(count_ops(inflight), sc_consistency_of_range(inflight, inflight->device_memory));
    SC_ASSERT(count_ops(inflight) <= SC_DEVICE_OPS_MAX);
}

/* Returns the stream's next older operation with a number above `number`; NULL: none. *id: the one
 * that was returned last, 0 at first. The list has all streams' operations, the latest first. */
static struct sc_op_info *next_behind(struct sc_inflight *inflight, uint32_t stream,
                                      uint64_t number, uint32_t *id)
{
    do
        *id = *id ? sc_inflight_op(inflight, *id)->range_next : device_list(inflight)->first_op;
    while (*id && info_at(inflight, *id)->ticket.stream != stream);
    struct sc_op_info *info = *id ? info_at(inflight, *id) : NULL;
    return info && info->ticket.number > number ? info : NULL;
}

/* A launch has host nodes whose runs cannot be matched with it: the order of the stream's
 * operations with larger numbers is unknown, since the host may order them with other work unseen.
 */
void sc_device_mark_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op_info *info;
    for (uint32_t id = 0; (info = next_behind(inflight, stream, number, &id)) != NULL;)
        info->unsure |= SC_UNSURE_WAITS;
}

/* Undoes that mark for the operations that were issued at `ticks`: a launch has turned out to have
 * no wait before them that is not seen. */
void sc_device_clear_unseen(struct sc_inflight *inflight, uint32_t stream, uint64_t number,
                            uint64_t ticks)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op_info *info;
    for (uint32_t id = 0; (info = next_behind(inflight, stream, number, &id)) != NULL;)
        if (info->ticks == ticks)
            info->unsure &= (uint8_t)~SC_UNSURE_WAITS;
}

/* ---- memory that comes or goes ---- */

/* The driver has handed out this memory, or taken it back: forgets the operations there, which
 * would conflict with uses of the next memory at the address. A few at a time, since the index must
 * not change during a walk. */
void sc_device_forget(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t found[DROPPED_AT_ONCE];
    unsigned count;
    do {
        count = 0;
        SC_GRID_EACH (walk, &inflight->device_grid, address, size_bytes) {
            found[count++] = walk.id;
            if (count == DROPPED_AT_ONCE)
                break;
        }
        for (unsigned i = 0; i < count; i++)
            sc_inflight_free_record(inflight, found[i]);
    } while (count == DROPPED_AT_ONCE);
}

/* Returns the context whose memory and work it is: of a green context (a part of a device) its
 * primary one. */
static uint32_t primary_context(struct sc_order *order, uint32_t context)
{
    uint32_t primary = context ? sc_order_stream(order, context)->primary : 0;
    return primary ? primary : context;
}

/* Was the operation issued in one of these contexts, or in a green context of one? */
static bool is_issued_in(struct sc_inflight *inflight, const struct sc_op_info *info,
                         const uint32_t *contexts, unsigned count)
{
    struct sc_order *order = inflight->order;
    uint32_t own = primary_context(order, sc_order_stream(order, info->ticket.stream)->context);
    for (unsigned i = 0; i < count; i++)
        if (contexts[i] && primary_context(order, contexts[i]) == own)
            return true;
    return false;
}

/* A copy between contexts has ordered all later work of these contexts after their earlier work:
 * forgets that work's operations, with which nothing conflicts any more. */
void sc_device_forget_of_contexts(struct sc_inflight *inflight, const uint32_t *contexts,
                                  unsigned count)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t next;
    for (uint32_t id = device_list(inflight)->first_op; id; id = next) {
        next = sc_inflight_op(inflight, id)->range_next;
        if (is_issued_in(inflight, info_at(inflight, id), contexts, count))
            sc_inflight_free_record(inflight, id);
    }
}
