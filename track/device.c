#include "track/device.h"

#include <errno.h>
#include <string.h>

#include "track/checks.h"
#include "track/no_verdicts.h"
#include "track/shape.h"
#include "track/trace.h"

#include "track/poison.h"

enum { GRID_CELLS = 1 << 14, DROPPED_AT_ONCE = 32, RETIRED_AT_ONCE = 4 };

struct op {
    struct sc_grid_node node; /* the hull */
    struct sc_op_info info;
    uint32_t previous, next;
};

int sc_device_init(struct sc_device *device, struct sc_order *order)
{
    memset(device, 0, sizeof *device);
    device->order = order;
    sc_pool_init(&device->ops, sizeof(struct op));
    return sc_grid_init(&device->grid, &device->ops, GRID_CELLS);
}

void sc_device_destroy(struct sc_device *device)
{
    sc_grid_destroy(&device->grid);
    sc_pool_destroy(&device->ops);
}

static struct op *at(struct sc_device *device, uint32_t id)
{
    return sc_pool_at(&device->ops, id);
}

/* The list names each operation once. */
static SC_CHECKER void check_list(struct sc_device *device)
{
    uint32_t count = 0, previous = 0;
    for (uint32_t id = device->first; id; id = at(device, id)->next) {
        SC_ASSERT(at(device, id)->previous == previous);
        SC_ASSERT(++count <= device->ops.live);
        previous = id;
    }
    SC_ASSERT(device->last == previous);
    SC_ASSERT(count == device->ops.live);
}

static void append(struct sc_device *device, uint32_t id)
{
    struct op *op = at(device, id);
    op->previous = device->last;
    op->next = 0;
    if (device->last)
        at(device, device->last)->next = id;
    else
        device->first = id;
    device->last = id;
}

static void drop(struct sc_device *device, uint32_t id)
{
    struct op *op = at(device, id);
    uint32_t stream = op->info.ticket.stream;
    if (op->previous)
        at(device, op->previous)->next = op->next;
    else
        device->first = op->next;
    if (op->next)
        at(device, op->next)->previous = op->previous;
    else
        device->last = op->previous;
    sc_grid_remove(&device->grid, id);
    sc_pool_give(&device->ops, id);
    SC_CHECK_OF(device->ops.live, check_list(device));
    sc_order_unreference(device->order, stream);
}

static bool merely_reads(const struct sc_op_info *info)
{
    return info->direction == SC_D2H || info->reads_device;
}

/* ---- conflicts ---- */

static bool is_done(struct sc_device *device, const struct sc_op_info *info)
{
    return sc_order_known_done(device->order, &info->ticket);
}

static bool comes_after(struct sc_device *device, const struct sc_op_info *later,
                        const struct sc_op_info *earlier)
{
    if (later->ticket.stream == 0)
        return earlier->direction == SC_ALLOCATION;
    return earlier->ticket.stream == later->ticket.stream ||
           sc_inflight_covers(device->order, later, &earlier->ticket);
}

struct conflict_search {
    struct sc_device *device;
    const struct sc_op_info *later;
    struct sc_ops *conflicts;
};

static bool note_conflict(void *context, uint32_t id)
{
    struct conflict_search *search = context;
    const struct sc_op_info *later = search->later;
    const struct sc_op_info *earlier = &at(search->device, id)->info;
    struct sc_order *order = search->device->order;
    bool ordered = sc_ops_is_unseen(order, earlier) || sc_ops_is_unseen(order, later) ||
                   (merely_reads(earlier) && merely_reads(later)) ||
                   is_done(search->device, earlier) || comes_after(search->device, later, earlier);
    if (!ordered &&
        sc_shapes_folded_touch(&earlier->shape, &earlier->fold, &later->shape, &later->fold))
        sc_ops_add(search->conflicts, earlier);
    return true;
}

void sc_device_conflicts(struct sc_device *device, const struct sc_op_info *info,
                         struct sc_ops *conflicts)
{
    SC_ASSERT_GUARDED(&device->ops);
    struct conflict_search search = {device, info, conflicts};
    sc_grid_overlaps_locked(&device->grid, info->shape.address, sc_shape_hull_bytes(&info->shape),
                            note_conflict, &search);
}

/* ---- what a later one stands for ---- */

struct drop_search {
    struct sc_device *device;
    const struct sc_op_info *later;
    uint32_t found[DROPPED_AT_ONCE];
    unsigned count;
};

static bool contains(const struct sc_op_info *outer, const struct sc_op_info *inner)
{
    size_t offset = inner->shape.address - outer->shape.address;
    size_t outer_bytes = sc_shape_hull_bytes(&outer->shape);
    size_t inner_bytes = sc_shape_hull_bytes(&inner->shape);
    bool equal = memcmp(&outer->shape, &inner->shape, sizeof outer->shape) == 0 &&
                 memcmp(&outer->fold, &inner->fold, sizeof outer->fold) == 0;
    return equal || (sc_shape_is_whole(&outer->shape, &outer->fold) && offset <= outer_bytes &&
                     inner_bytes <= outer_bytes - offset);
}

static bool stands_for(struct sc_device *device, const struct sc_op_info *later,
                       const struct sc_op_info *earlier)
{
    return (!merely_reads(later) || merely_reads(earlier)) &&
           (!later->is_possible || earlier->is_possible) && contains(later, earlier) &&
           (earlier->ticket.stream == later->ticket.stream ||
            sc_inflight_covers(device->order, later, &earlier->ticket));
}

static bool note_needless(void *context, uint32_t id)
{
    struct drop_search *search = context;
    const struct sc_op_info *earlier = &at(search->device, id)->info;
    if (is_done(search->device, earlier) || stands_for(search->device, search->later, earlier))
        search->found[search->count++] = id;
    return search->count < DROPPED_AT_ONCE;
}

/* What is left over goes with the next operation there. */
static void drop_needless(struct sc_device *device, const struct sc_op_info *later)
{
    struct drop_search search = {.device = device, .later = later};
    sc_grid_overlaps_locked(&device->grid, later->shape.address, sc_shape_hull_bytes(&later->shape),
                            note_needless, &search);
    for (unsigned i = 0; i < search.count; i++)
        drop(device, search.found[i]);
}

static void retire_oldest(struct sc_device *device)
{
    for (unsigned i = 0; i < RETIRED_AT_ONCE && device->first; i++) {
        bool is_known = is_done(device, &at(device, device->first)->info);
        if (device->ops.live < SC_DEVICE_OPS_MAX && !is_known)
            return;
        sc_no_verdicts_add(device->no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM,
                           !is_known);
        drop(device, device->first);
    }
}

void sc_device_add(struct sc_device *device, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&device->ops);
    SC_TRACE("device-op-add stream number address bytes", info->ticket.stream, info->ticket.number,
             info->shape.address, info->shape.width_bytes);
    size_t hull_bytes = sc_shape_hull_bytes(&info->shape);
    if (hull_bytes == 0)
        return;
    retire_oldest(device);
    drop_needless(device, info);
    uint32_t id = sc_pool_take(&device->ops);
    if (!id)
        return;
    struct op *op = at(device, id);
    op->info = *info;
    atomic_store_explicit(&op->node.address, info->shape.address, memory_order_release);
    atomic_store_explicit(&op->node.size_bytes, hull_bytes, memory_order_release);
    sc_grid_insert(&device->grid, id);
    append(device, id);
    SC_CHECK_OF(device->ops.live, check_list(device));
    SC_ASSERT(device->ops.live <= SC_DEVICE_OPS_MAX);
    sc_order_reference(device->order, info->ticket.stream);
}

/* The stream's next older operation behind the number, or NULL. `*id` is that of the last one. */
static struct sc_op_info *next_behind(struct sc_device *device, uint32_t stream, uint64_t number,
                                      uint32_t *id)
{
    do
        *id = *id ? at(device, *id)->previous : device->last;
    while (*id && at(device, *id)->info.ticket.stream != stream);
    struct sc_op_info *info = *id ? &at(device, *id)->info : NULL;
    return info && info->ticket.number > number ? info : NULL;
}

void sc_device_unsee(struct sc_device *device, uint32_t stream, uint64_t number)
{
    SC_ASSERT_GUARDED(&device->ops);
    struct sc_op_info *info;
    for (uint32_t id = 0; (info = next_behind(device, stream, number, &id)) != NULL;)
        info->unseen = true;
}

void sc_device_see(struct sc_device *device, uint32_t stream, uint64_t number, uint64_t ticks)
{
    SC_ASSERT_GUARDED(&device->ops);
    struct sc_op_info *info;
    for (uint32_t id = 0; (info = next_behind(device, stream, number, &id)) != NULL;)
        info->unseen &= info->ticks != ticks;
}

/* ---- memory that comes or goes ---- */

static bool note_any(void *context, uint32_t id)
{
    struct drop_search *search = context;
    search->found[search->count++] = id;
    return search->count < DROPPED_AT_ONCE;
}

void sc_device_forget(struct sc_device *device, uintptr_t address, size_t size_bytes)
{
    SC_ASSERT_GUARDED(&device->ops);
    struct drop_search search;
    do {
        search = (struct drop_search){.device = device};
        sc_grid_overlaps_locked(&device->grid, address, size_bytes, note_any, &search);
        for (unsigned i = 0; i < search.count; i++)
            drop(device, search.found[i]);
    } while (search.count == DROPPED_AT_ONCE);
}

/* A green context's memory and work are its primary one's. */
static uint32_t primary_of(struct sc_order *order, uint32_t context)
{
    uint32_t primary = context ? sc_order_stream(order, context)->primary : 0;
    return primary ? primary : context;
}

static bool is_issued_in(struct sc_device *device, const struct sc_op_info *info,
                         const uint32_t *contexts, unsigned count)
{
    struct sc_order *order = device->order;
    uint32_t own = primary_of(order, sc_order_stream(order, info->ticket.stream)->context);
    for (unsigned i = 0; i < count; i++)
        if (contexts[i] && primary_of(order, contexts[i]) == own)
            return true;
    return false;
}

void sc_device_forget_of(struct sc_device *device, const uint32_t *contexts, unsigned count)
{
    SC_ASSERT_GUARDED(&device->ops);
    uint32_t next;
    for (uint32_t id = device->first; id; id = next) {
        next = at(device, id)->next;
        if (is_issued_in(device, &at(device, id)->info, contexts, count))
            drop(device, id);
    }
}
