#include "track/inflight.h"

#include <errno.h>
#include <string.h>

#include "common/checks.h"
#include "common/own_pages.h"
#include "common/peek.h"
#include "common/ticks.h"
#include "common/trace.h"
#include "track/comparisons.h"
#include "track/conflicts.h"
#include "track/consistency.h"
#include "track/inflight_calls.h"
#include "track/inflight_internal.h"
#include "track/kernel_flags.h"
#include "track/no_verdicts.h"
#include "track/ops.h"
#include "track/order.h"
#include "track/source_copies.h"
#include "track/staging.h"
#include "track/track_copies.h"

#include "common/poison.h"

enum {
    GRID_CELLS = 1 << 16,
    DEVICE_CELLS = 1 << 14,
    RANGE_CELLS = 1 << 16,
};

/* Initialises the index of ranges (host memory that the driver knows) and operations (asynchronous
 * uses of memory). Two records of ranges are taken that stand in for a range: operations need a
 * list to be in, and some lie in no range or on device memory. */
int sc_inflight_init(struct sc_inflight *inflight, struct sc_order *order)
{
    memset(inflight, 0, sizeof *inflight);
    inflight->order = order;
    sc_pool_init(&inflight->ranges, sizeof(struct sc_range));
    sc_pool_init(&inflight->ops, sizeof(struct sc_op));
    sc_source_copies_init(inflight);
    sc_exempt_pages_init(&inflight->exempt_pages);
    inflight->keys = sc_pages_map(SC_INFLIGHT_KEYS * sizeof *inflight->keys);
    inflight->no_range = sc_pool_take(&inflight->ranges);
    inflight->device_memory = sc_pool_take(&inflight->ranges);
    if (sc_grid_init(&inflight->range_grid, &inflight->ranges, RANGE_CELLS) ||
        sc_grid_init(&inflight->op_grid, &inflight->ops, GRID_CELLS) ||
        sc_grid_init(&inflight->heap_grid, &inflight->ops, GRID_CELLS) ||
        sc_grid_init(&inflight->device_grid, &inflight->ops, DEVICE_CELLS) ||
        sc_spans_init(&inflight->guards) || !inflight->keys || !inflight->no_range ||
        !inflight->device_memory)
        return -ENOMEM;
    inflight->nowhere = sc_inflight_range(inflight, inflight->no_range);
    return 0;
}

/* ---- ranges ---- */

/* Returns the record in whose list the operation is: its range (the host memory that the driver
 * knows), or one that stands in for a range. */
static struct sc_range *list_owner_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_inflight_range(inflight, sc_inflight_list_owner(inflight, info));
}

/* In debug builds, checks the lists of an operation that was just added or moved. Other builds have
 * no code of it; the casts are for their unused parameters. */
static SC_CHECKER void check_op(struct sc_inflight *inflight, uint32_t id)
{
    SC_CHECK(const struct sc_op *op = sc_inflight_op(inflight, id));
    SC_CHECK(sc_consistency_of_op(inflight, id));
    SC_CHECK_OF(inflight->ops.live,
                sc_consistency_of_range(inflight, sc_inflight_list_owner(inflight, &op->info)));
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_stream(inflight, op->info.ticket.stream));
    (void)inflight, (void)id;
}

/* In debug builds, checks the two lists that an operation was just dropped from: the one of `home`,
 * its range (host memory known to the driver) or stand-in, and its stream's. */
static SC_CHECKER void check_lists(struct sc_inflight *inflight, uint32_t home, uint32_t stream)
{
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_range(inflight, home));
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_stream(inflight, stream));
    (void)inflight, (void)home, (void)stream;
}

/* Sets the interval of a range (host memory known to the driver) or an operation, by which the grid
 * (the index by address) finds it. The stores are atomic, since readers of the grid take no lock.
 */
static void set_node(struct sc_grid_node *node, uintptr_t address, size_t size_bytes)
{
    atomic_store_explicit(&node->address, address, memory_order_release);
    atomic_store_explicit(&node->size_bytes, size_bytes, memory_order_release);
}

/* Adds to a count that is changed under the lock only; it is atomic for readers without the lock.
 */
static void add_to_count(_Atomic uint32_t *count, int change)
{
    uint32_t value = atomic_load_explicit(count, memory_order_relaxed) + (uint32_t)change;
    atomic_store_explicit(count, value, memory_order_relaxed);
}

/* Adds a range: memory that the driver has just allocated or registered. Ranges that it overlaps
 * are removed, since memory is allocated once: the library has missed their end. Counts and lists
 * of operations are kept for each range, so that most questions are answered by a count. */
uint32_t sc_inflight_add_range(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                               enum sc_buffer_kind kind, uint32_t context)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_TRACE("range-add address bytes kind context", address, size_bytes, kind, context);
    if (size_bytes == 0)
        return 0;
    for (uint32_t old; (old = sc_grid_find_any(&inflight->range_grid, address, size_bytes)) != 0;)
        sc_inflight_remove_range(inflight, old);
    uint32_t id = sc_pool_take(&inflight->ranges);
    if (!id)
        return 0;
    struct sc_range *range = sc_inflight_range(inflight, id);
    set_node(&range->node, address, size_bytes);
    atomic_store_explicit(&range->kind, kind, memory_order_release);
    atomic_store_explicit(&range->context, context, memory_order_release);
    sc_blocks_add(&inflight->range_blocks, address, size_bytes);
    sc_grid_insert(&inflight->range_grid, id);
    if (kind == SC_MANAGED)
        add_to_count(&inflight->managed_count, 1);
    return id;
}

/* How many operations in flight lie in the range (host memory known to the driver). The count is
 * atomic for readers without the lock. */
static inline uint32_t op_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->op_count, memory_order_relaxed);
}

/* How many operations in flight write into the range (host memory known to the driver), as
 * downloads do. */
static inline uint32_t writer_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->writer_count, memory_order_relaxed);
}

/* Adds the change, 1 or -1, to the range's counts for an operation of this direction. Copies to the
 * device are counted once more, as their source has to be compared before the device writes it; and
 * again in ranges (host memory known to the driver) that share pages with other pinned memory,
 * where a write beside the source matters as well. */
static inline void count_on_range(struct sc_inflight *inflight, struct sc_range *range,
                                  enum sc_direction direction, int change)
{
    add_to_count(&range->op_count, change);
    if (sc_direction_writes_host(direction))
        add_to_count(&range->writer_count, change);
    SC_ASSERT(op_count(range) <= inflight->ops.live);
    if (direction != SC_H2D)
        return;
    add_to_count(&range->source_count, change);
    if (sc_inflight_is_neighbour(inflight, range))
        add_to_count(&inflight->neighbour_source_count, change);
}

/* Updates the range's only stream (the one that all its operations are on; 0: several), before an
 * operation of this stream is linked. A call on the only stream needs no search for conflicts. */
static void update_only_stream(struct sc_range *range, uint32_t stream)
{
    uint32_t former = atomic_load_explicit(&range->only_stream, memory_order_relaxed);
    uint32_t only = !range->first_op || former == stream ? stream : 0;
    if (former != only)
        atomic_store_explicit(&range->only_stream, only, memory_order_relaxed);
}

/* Adds the operation at the head of its range's list, and counts it there. */
static void link_to_range(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    struct sc_range *range = list_owner_of(inflight, &op->info);
    op->range_previous = 0;
    op->range_next = range->first_op;
    *(range->first_op ? &sc_inflight_op(inflight, range->first_op)->range_previous
                      : &range->last_op) = id;
    update_only_stream(range, op->info.ticket.stream);
    range->first_op = id;
    count_on_range(inflight, range, op->info.direction, 1);
}

/* Takes the operation out of its range's list and counts. The range's only stream may stay as it
 * is: without operations nobody reads it. */
static void unlink_from_range(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    struct sc_range *range = list_owner_of(inflight, &op->info);
    *(op->range_previous ? &sc_inflight_op(inflight, op->range_previous)->range_next
                         : &range->first_op) = op->range_next;
    *(op->range_next ? &sc_inflight_op(inflight, op->range_next)->range_previous
                     : &range->last_op) = op->range_previous;
    count_on_range(inflight, range, op->info.direction, -1);
}

/* The range (host memory known to the driver) ends: removes its pages from the set of pages that
 * must never be protected (Linux itself may use them at any time, as a futex), since other memory
 * may come to lie there. */
static void forget_exempt_pages(struct sc_inflight *inflight, const struct sc_grid_node *node)
{
    uintptr_t mask = inflight->guards.page_mask;
    uintptr_t start = atomic_load_explicit(&node->address, memory_order_relaxed);
    uintptr_t end = start + atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    sc_exempt_pages_forget(&inflight->exempt_pages, start & ~mask, (end + mask) & ~mask, mask);
}

/* Removes a range (host memory known to the driver), whose memory is no longer known. Its
 * operations are still in flight, so they move to the list of operations in no range. A thread that
 * compares a source without the lock reads its range's memory, so such comparisons are waited for
 * first. */
void sc_inflight_remove_range(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_TRACE("range-remove range", id);
    sc_comparisons_await_all(inflight);
    struct sc_range *range = sc_inflight_range(inflight, id);
    forget_exempt_pages(inflight, &range->node);
    SC_ASSERT(id != inflight->no_range && id < sc_pool_first_unused(&inflight->ranges));
    SC_CHECK_OF(op_count(range), sc_consistency_of_range(inflight, id));
    while (range->first_op) {
        uint32_t op = range->first_op;
        unlink_from_range(inflight, op);
        sc_inflight_op(inflight, op)->info.range = 0;
        link_to_range(inflight, op);
    }
    SC_ASSERT(op_count(range) == 0 && writer_count(range) == 0);
    sc_grid_remove(&inflight->range_grid, id);
    if (atomic_load_explicit(&range->kind, memory_order_relaxed) == SC_MANAGED)
        add_to_count(&inflight->managed_count, -1);
    atomic_store_explicit(&range->node.size_bytes, 0, memory_order_release);
    sc_pool_release(&inflight->ranges, id);
}

/* The driver takes back the memory at the address: it is no range (memory known to the driver) any
 * more. Its operations go on in no range. */
void sc_inflight_remove_range_at(struct sc_inflight *inflight, uintptr_t address)
{
    uint32_t range = sc_grid_find_at_locked(&inflight->range_grid, address);
    if (range)
        sc_inflight_remove_range(inflight, range);
}

/* Returns any range (host memory known to the driver) of the context's memory, or 0 if there is
 * none. The caller removes ranges one by one, and a walk of the grid must not go on after a
 * removal. */
static uint32_t range_of_context(struct sc_inflight *inflight, uint32_t context)
{
    SC_GRID_EACH (walk, &inflight->range_grid, 0, SIZE_MAX) {
        struct sc_range *range = sc_inflight_range(inflight, walk.id);
        if (atomic_load_explicit(&range->context, memory_order_relaxed) == context)
            return walk.id;
    }
    return 0;
}

/* A context has ended, and its pinned memory with it: removes all of its ranges. */
void sc_inflight_remove_ranges_of(struct sc_inflight *inflight, uint32_t context)
{
    for (uint32_t range; (range = range_of_context(inflight, context)) != 0;)
        sc_inflight_remove_range(inflight, range);
}

/* Returns the range (host memory known to the driver) at the address, without the lock; 0: none;
 * SC_GRID_RETRY: ranges are being changed. */
uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address)
{
    return sc_grid_find_at(&inflight->range_grid, address);
}

/* ---- operations ---- */

/* Returns the index by address for operations on this kind of memory. Each free() looks up what
 * lies on memory of the C library's, so that has an index of its own, which is mostly empty. */
static struct sc_grid *grid_of(struct sc_inflight *inflight, enum sc_buffer_kind kind)
{
    if (kind == SC_DEVICE)
        return &inflight->device_grid;
    return sc_ops_is_heap(kind) ? &inflight->heap_grid : &inflight->op_grid;
}

/* Returns the head of the hash chain for operations with this address, width and stream. A loop
 * over one buffer issues equal operations again and again; the chain finds the earlier one. */
static _Atomic uint32_t *key_head(struct sc_inflight *inflight, uintptr_t address,
                                  size_t width_bytes, uint32_t stream)
{
    uint64_t key = address * 0x9E3779B97F4A7C15u;
    key ^= (width_bytes + ((uint64_t)stream << 32)) * 0xC2B2AE3D27D4EB4Fu;
    return &inflight->keys[(key >> 33) % SC_INFLIGHT_KEYS];
}

/* Reads a link of a hash chain. Chains change under the lock only; the load is atomic since
 * sc_inflight_may_have_alike reads them without. */
static uint32_t read_link(const _Atomic uint32_t *link)
{
    return atomic_load_explicit(link, memory_order_relaxed);
}

/* Writes a link of a hash chain, under the lock (see read_link for why it is atomic). */
static void write_link(_Atomic uint32_t *link, uint32_t id)
{
    atomic_store_explicit(link, id, memory_order_relaxed);
}

/* Returns the head of the hash chain that the operation is in, or would be in. */
static _Atomic uint32_t *key_head_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return key_head(inflight, info->shape.address, info->shape.width_bytes, info->ticket.stream);
}

/* Do both operations use the same bytes on the same stream in the same direction? Then the later
 * one replaces the earlier one: who has waited for the later one has waited for both. `fold` says
 * at which width and pitch the rows are cut once more, as those of a copy of several planes. */
static bool is_equal_op(const struct sc_op_info *a, const struct sc_op_info *b)
{
    return a->shape.address == b->shape.address && a->shape.width_bytes == b->shape.width_bytes &&
           a->shape.rows == b->shape.rows && a->shape.pitch_bytes == b->shape.pitch_bytes &&
           a->ticket.stream == b->ticket.stream && a->direction == b->direction &&
           a->range == b->range && a->kind == b->kind &&
           a->fold.width_bytes == b->fold.width_bytes && a->fold.pitch_bytes == b->fold.pitch_bytes;
}

/* Returns the operation in flight that uses the same bytes on the same stream in the same
 * direction, or 0: a new one may replace it. */
uint32_t sc_inflight_find_equal(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t id = read_link(key_head_of(inflight, info));
    while (id && !is_equal_op(&sc_inflight_op(inflight, id)->info, info))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

/* Finds the operation in flight with this ticket (stream and number). Equal ones are several at
 * times: an operation whose range (host memory known to the driver) was removed equals one that was
 * issued in no range. So the number is compared as well. */
uint32_t sc_inflight_find(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t id = read_link(key_head_of(inflight, info));
    while (id && (!is_equal_op(&sc_inflight_op(inflight, id)->info, info) ||
                  sc_inflight_op(inflight, id)->info.ticket.number != info->ticket.number))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

/* Adds the operation to the hash chain by which a later equal one finds it. */
static void link_key(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    _Atomic uint32_t *first = key_head_of(inflight, &op->info);
    write_link(&op->key_next, read_link(first));
    write_link(first, id);
}

/* Takes the operation out of its hash chain, which is linked in one direction and so is searched
 * from its head. Operations on device memory are in no chain and never come here. */
static void unlink_key(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    _Atomic uint32_t *link = key_head_of(inflight, &op->info);
    while (read_link(link) && read_link(link) != id)
        link = &sc_inflight_op(inflight, read_link(link))->key_next;
    SC_ASSERT(read_link(link) == id);
    if (read_link(link))
        write_link(link, read_link(&op->key_next));
}

/* Adds the operation at the end of its stream's list, which is in order of issue. With its first
 * operation a stream joins the list of busy streams. `first_open` is the stream's first operation
 * that was not seen complete. */
static void link_to_stream(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    struct sc_stream *stream = sc_order_stream(inflight->order, op->info.ticket.stream);
    op->stream_previous = stream->last_op;
    op->stream_next = 0;
    if (stream->last_op) {
        sc_inflight_op(inflight, stream->last_op)->stream_next = id;
    } else {
        stream->first_op = id;
        stream->busy_previous = 0;
        stream->busy_next = inflight->busy;
        if (inflight->busy)
            sc_order_stream(inflight->order, inflight->busy)->busy_previous =
                op->info.ticket.stream;
        inflight->busy = op->info.ticket.stream;
    }
    stream->last_op = id;
    if (!stream->first_open)
        stream->first_open = id;
}

/* Removes the stream from the list of busy streams (those with operations in flight), which walks
 * over all operations begin with. */
static void remove_from_busy(struct sc_inflight *inflight, struct sc_stream *stream)
{
    *(stream->busy_previous ? &sc_order_stream(inflight->order, stream->busy_previous)->busy_next
                            : &inflight->busy) = stream->busy_next;
    if (stream->busy_next)
        sc_order_stream(inflight->order, stream->busy_next)->busy_previous = stream->busy_previous;
}

/* Removes the operation from its stream's list, and the stream from the list of busy ones if it was
 * the last. */
static void unlink_from_stream(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    struct sc_stream *stream = sc_order_stream(inflight->order, op->info.ticket.stream);
    if (stream->first_open == id)
        stream->first_open = op->stream_next;
    *(op->stream_previous ? &sc_inflight_op(inflight, op->stream_previous)->stream_next
                          : &stream->first_op) = op->stream_next;
    *(op->stream_next ? &sc_inflight_op(inflight, op->stream_next)->stream_previous
                      : &stream->last_op) = op->stream_previous;
    if (!stream->first_op)
        remove_from_busy(inflight, stream);
}

/* Sets whether the operation is retained (complete on the device, and kept since the host has not
 * waited for it), and keeps the count of such operations, which has a limit. */
static void mark_retained(struct sc_inflight *inflight, struct sc_op *op, bool retained)
{
    inflight->retained += (uint32_t)retained - (uint32_t)op->retained;
    op->retained = retained;
}

/* ---- guards, and copies of what is not guarded ---- */

/* Sets whether the protection of the operation's pages is put off, and keeps the count of such
 * operations: while it is 0, nobody looks for them. */
static void mark_awaits_guard(struct sc_inflight *inflight, struct sc_op *op, bool awaits)
{
    inflight->awaiting_guard += (uint32_t)awaits - (uint32_t)op->awaits_guard;
    op->awaits_guard = awaits;
}

/* Ends the protection of the operation's pages, or the plan to protect them later. The records
 * alone change here: the caller sees to the system calls (sc_guard_apply). */
void sc_inflight_unguard(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op *op = sc_inflight_op(inflight, id);
    mark_awaits_guard(inflight, op, false);
    sc_spans_end(&inflight->guards, op->first_span);
    op->first_span = 0;
}

/* Copies the first and last page of the source, which lie beside other memory and so are not
 * protected, to be compared when the copy is done. If they cannot be copied, an overwrite there
 * would be missed, which is counted. */
static void copy_edges(struct sc_inflight *inflight, struct sc_op *op)
{
    if (sc_source_copies_copy_edges(inflight, op))
        return;
    inflight->uncompared.operations++;
    inflight->uncompared.bytes += sc_shape_hull_bytes(&op->info.shape);
}

/* Does the operation come after a wait for the host whose end no call tells (a wait for a value in
 * memory), and may the host not have ended it yet? Until then the host may correctly fill the
 * operation's source, so it must not be protected. */
static bool has_unseen_wait_before(struct sc_inflight *inflight, const struct sc_op *op)
{
    return sc_unseen_is_open(inflight->order, &op->info.unseen_waits);
}

/* Is anything to be done so that early accesses to the operation's memory are found: pages to be
 * protected, or to be copied and compared because other memory shares them? */
static bool wants_guard(const struct sc_op *op)
{
    return op->info.guard_bytes || op->info.shares_pages;
}

/* Begins to protect an operation's pages against the host. Puts that off while a wait before the
 * operation, whose end no call tells, may last: until then the host may correctly use the memory.
 * Apart from guard_op, since most operations are not guarded. */
static __attribute__((noinline)) void guard_pages(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    if (has_unseen_wait_before(inflight, op)) {
        mark_awaits_guard(inflight, op, true);
        return;
    }
    if (op->info.guard_bytes)
        op->first_span =
            sc_spans_add(&inflight->guards, (struct sc_span_owner){id, op->info.ticket.stream},
                         op->info.guard_address, op->info.guard_bytes, op->info.access, 0);
    if (op->info.shares_pages)
        copy_edges(inflight, op);
}

/* Begins the protection of an operation that was issued, or issued again, if it is to be protected.
 */
static inline void guard_op(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    op->cut = false;
    op->chosen_ticks = op->info.ticks;
    if (wants_guard(op))
        guard_pages(inflight, id);
}

/* Protects the pages of operations for which that was put off because the host could still fill
 * them (has_unseen_wait_before), if the waits are over. One that is complete meanwhile is left
 * alone, unless strict=1 wants it protected until the program has waited. */
void sc_inflight_guard_seen(struct sc_inflight *inflight)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    if (!inflight->awaiting_guard)
        return;
    for (uint32_t stream = inflight->busy; stream;
         stream = sc_order_stream(inflight->order, stream)->busy_next)
        for (uint32_t id = sc_order_stream(inflight->order, stream)->first_op; id;
             id = sc_inflight_op(inflight, id)->stream_next) {
            struct sc_op *op = sc_inflight_op(inflight, id);
            if (!op->awaits_guard || has_unseen_wait_before(inflight, op))
                continue;
            mark_awaits_guard(inflight, op, false);
            if (!op->retained || inflight->guard_until_known)
                guard_op(inflight, id);
        }
}

/* Are pages of the operation protected against an access of this kind? Reading a source is always
 * allowed: the device only reads it, too. */
static bool is_protected_from(const struct sc_op *op, enum sc_touch touch)
{
    return op->first_span &&
           (touch == SC_TOUCH_WRITE || sc_direction_writes_host(op->info.direction));
}

/* Is the operation complete, so that accesses are allowed although its pages may still be
 * protected? With strict=1 (`guard_until_known`) they are not: the program has to have waited. */
static bool is_released(const struct sc_inflight *inflight, const struct sc_op *op)
{
    return op->retained && !inflight->guard_until_known;
}

/* Would an access of this kind to the operation's pages be reported? So if they are protected, and
 * the operation may still run. */
static bool forbids(const struct sc_inflight *inflight, const struct sc_op *op, enum sc_touch touch)
{
    return is_protected_from(op, touch) && !is_released(inflight, op);
}

/* The operation is complete, so the host may access its pages. They stay protected all the same,
 * since the next copy of the same buffer wants them protected and saves two system calls. A ring
 * keeps the latest SC_RELEASED_MAX such operations; the one whose place is taken is unprotected,
 * unless it was issued again since (its number differs). */
static void mark_released(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_released *slot = &inflight->released[inflight->released_count % SC_RELEASED_MAX];
    const struct sc_op *oldest = slot->op ? sc_inflight_op(inflight, slot->op) : NULL;
    if (oldest && is_released(inflight, oldest) && oldest->info.ticket.number == slot->number)
        sc_inflight_unguard(inflight, slot->op);
    *slot = (struct sc_released){id, sc_inflight_op(inflight, id)->info.ticket.number};
    inflight->released_count++;
}

/* Returns the operation for which this span (a run of pages) is protected. */
static struct sc_op *op_of_span(struct sc_inflight *inflight, uint32_t span)
{
    return sc_inflight_op(inflight, sc_spans_at(&inflight->guards, span)->op);
}

/* Asked after a fault: does an operation protect the page against this kind of access? One that is
 * complete does not count. */
bool sc_inflight_watches_page(struct sc_inflight *inflight, uintptr_t address, enum sc_touch touch)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_GRID_EACH (walk, &inflight->guards.grid, address, 1)
        if (forbids(inflight, op_of_span(inflight, walk.id), touch))
            return true;
    return false;
}

/* Returns an operation that protects a page of the interval against such an access, or NULL. Also
 * one that is complete: its pages have to be unprotected as well before the access succeeds. */
static struct sc_op *find_protecting(struct sc_inflight *inflight, uintptr_t address,
                                     size_t size_bytes, enum sc_touch touch)
{
    SC_GRID_EACH (walk, &inflight->guards.grid, address, size_bytes)
        if (is_protected_from(op_of_span(inflight, walk.id), touch))
            return op_of_span(inflight, walk.id);
    return NULL;
}

/* Pages of the operation are about to be unprotected for an access: counts the operation's bytes
 * from `start` to `end`, since a later access to them is no longer seen. If the present access
 * meets bytes of the operation, a verdict is given on that, and nothing is counted. An operation is
 * counted once (`cut`: it has lost pages before). */
static void count_unwatched(const struct sc_op *op, const struct sc_shape *touched, uintptr_t start,
                            uintptr_t end, struct sc_unwatched *unwatched)
{
    const struct sc_op_info *info = &op->info;
    size_t bytes = sc_shape_used_between(&info->shape, &info->fold, start, end);
    if (bytes == 0 || sc_shape_row_touches_folded(touched, &info->shape, &info->fold))
        return;
    unwatched->operations += !op->cut;
    unwatched->bytes += bytes;
}

/* Unprotects the pages of an access for which the host may go on: takes them out of the spans (runs
 * of protected pages) of one operation after the other. Sources on them are copied first
 * (`keep_copies`), so that an overwrite is still found when they are compared. A destination cannot
 * be compared. What is complete needs neither a copy nor a count. */
void sc_inflight_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                           enum sc_touch touch, bool keep_copies, struct sc_unwatched *unwatched)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    struct sc_pages pages = sc_spans_pages(&inflight->guards, address, size_bytes);
    struct sc_op *op;
    while ((op = find_protecting(inflight, address, size_bytes, touch)) != NULL) {
        bool is_watched = !is_released(inflight, op);
        bool copied = keep_copies;
        for (uint32_t id = keep_copies && is_watched ? op->first_span : 0; id;
             id = sc_spans_at(&inflight->guards, id)->next)
            copied &= sc_source_copies_copy_pages(inflight, op, id, address, address + size_bytes);
        if (is_watched && (!copied || sc_direction_writes_host(op->info.direction)))
            count_unwatched(op, &touched, pages.start, pages.end, unwatched);
        op->first_span = sc_spans_cut(&inflight->guards, op->first_span, address, size_bytes);
        op->cut = true;
    }
}

/* Would the access meet bytes that the operation uses, so that it has to wait for the operation?
 * Two reads never conflict. */
static bool is_too_early(const struct sc_op_info *info, const struct sc_shape *touched,
                         enum sc_touch touch)
{
    return (touch == SC_TOUCH_WRITE || sc_direction_writes_host(info->direction)) &&
           sc_shape_row_touches_folded(touched, &info->shape, &info->fold);
}

/* Finds the operations whose bytes an access of the host meets: they are reported, and the access
 * waits for them. */
void sc_inflight_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                              enum sc_touch touch, struct sc_ops *found)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        if (forbids(inflight, walk.op, touch) && is_too_early(&walk.op->info, &touched, touch))
            sc_ops_add_judged(found, &walk.op->info);
}

/* Would such an access of the interval come too early for some operation, whether its pages are
 * protected or not? */
static bool is_touch_too_early_for_any(struct sc_inflight *inflight, uintptr_t address,
                                       size_t size_bytes, enum sc_touch touch)
{
    const struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        if (is_too_early(&walk.op->info, &touched, touch))
            return true;
    return false;
}

/* The access comes too early for some operation, so the host waits, and the pages are unprotected
 * as a whole after that. A program that has waited goes on to the bytes beside. So all operations
 * that run on these pages are found, not only those whose bytes are accessed. */
void sc_inflight_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                   size_t size_bytes, enum sc_touch touch, struct sc_ops *found)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_pages pages = sc_spans_pages(&inflight->guards, address, size_bytes);
    size_t page_bytes = pages.end - pages.start;
    const struct sc_shape touched = {pages.start, page_bytes, page_bytes, 1};
    if (!is_touch_too_early_for_any(inflight, address, size_bytes, touch))
        return;
    SC_INFLIGHT_EACH (walk, inflight, pages.start, page_bytes)
        if (!sc_order_complete(inflight->order, &walk.op->info.ticket) &&
            forbids(inflight, walk.op, touch) && is_too_early(&walk.op->info, &touched, touch))
            sc_ops_add_judged(found, &walk.op->info);
}

/* Adds the operation to `changed` if its source differs from its copies: the program has
 * overwritten it too early. If the source differs from its snapshot alone, the device has read the
 * snapshot, so the right bytes: the operation is marked as `copied`. If pages were copied later, it
 * is not known which bytes the device has read. */
static bool add_if_changed(struct sc_inflight *inflight, const struct sc_op *op,
                           struct sc_ops *changed)
{
    if (!sc_source_copies_differ(inflight, op))
        return false;
    struct sc_op_info info = op->info;
    info.copied |= !op->first_copy && (info.edges[0] || info.edges[1]);
    sc_ops_add(changed, &info);
    return true;
}

/* The device is about to write the interval, and what it writes must not be taken for an overwrite
 * by the program. So sources there are compared for the last time, and are not `stable` from now on
 * (changed by the host alone). The whole pages count: they may be protected for the write, and then
 * a source on them cannot be read. */
void sc_inflight_seal(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                      struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_pages pages = sc_spans_pages(&inflight->guards, address, size_bytes);
    const struct sc_shape sealed = {address, size_bytes, size_bytes, 1};
    SC_INFLIGHT_EACH (walk, inflight, pages.start, pages.end - pages.start) {
        bool changed = add_if_changed(inflight, walk.op, overwritten);
        if (changed || sc_shape_hulls_touch(&walk.op->info.shape, &sealed))
            walk.op->info.stable = false;
    }
}

/* Compares the operation's source for the last time, since a kernel is about to write it. Leaves
 * out what was compared for the last time before (not `stable`), what is compared anyway when it is
 * forgotten (known done), and operations that `later` does not come after: it may not write their
 * source. */
static void compare_last_time(struct sc_inflight *inflight, struct sc_op *op,
                              const struct sc_op_info *later, struct sc_ops *overwritten)
{
    if (!op->info.stable || sc_order_known_done(inflight->order, &op->info.ticket) ||
        (later && !sc_conflicts_is_ordered_after(inflight->order, later, &op->info.ticket)))
        return;
    add_if_changed(inflight, op, overwritten);
    op->info.stable = false;
}

/* A kernel got a pointer into the range (host memory known to the driver), and may write from there
 * to its end. Compares, for the last time, the sources there: what they differ by later may be the
 * kernel's doing. Operations that end before the pointer are left out. */
void sc_inflight_seal_for_kernel(struct sc_inflight *inflight, uint32_t range, uintptr_t address,
                                 const struct sc_op_info *later, struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    for (uint32_t id = sc_inflight_range(inflight, range)->first_op, next; id; id = next) {
        struct sc_op *op = sc_inflight_op(inflight, id);
        next = op->range_next;
        const struct sc_shape *shape = &op->info.shape;
        if (shape->address + sc_shape_hull_bytes(shape) > address)
            compare_last_time(inflight, op, later, overwritten);
    }
}

/* Any kernel may write managed memory, by pointers that the library does not see. So before each
 * one the sources of copies from managed memory are compared for the last time. */
void sc_inflight_seal_managed(struct sc_inflight *inflight, const struct sc_op_info *later,
                              struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    for (uint32_t stream = inflight->busy; stream;) {
        const struct sc_stream *busy = sc_order_stream(inflight->order, stream);
        for (uint32_t id = busy->first_op; id;) {
            struct sc_op *op = sc_inflight_op(inflight, id);
            id = op->stream_next;
            if (op->info.kind == SC_MANAGED && op->info.direction == SC_H2D)
                compare_last_time(inflight, op, later, overwritten);
        }
        stream = busy->busy_next;
    }
}

/* Does an operation in flight write into the interval of the shape? Then a source there has not its
 * final bytes yet. Mostly the counts of writers tell that none does. */
bool sc_inflight_is_written(struct sc_inflight *inflight, uint32_t range,
                            const struct sc_shape *shape)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    if (!sc_inflight_may_be_written(inflight, range))
        return false;
    SC_INFLIGHT_EACH (walk, inflight, shape->address, sc_shape_hull_bytes(shape))
        if (sc_direction_writes_host(walk.op->info.direction))
            return true;
    return false;
}

/* Can the source be changed by nobody but the host from now on? Only then a later difference is a
 * mistake of the program. An operation in flight that writes there would change it correctly. */
static inline bool is_stable(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return info->stable && info->direction == SC_H2D &&
           (!sc_inflight_may_be_written(inflight, info->range) ||
            !sc_inflight_is_written(inflight, info->range, &info->shape));
}

/* Asked before an operation is issued of which a snapshot must be taken: the snapshot is of use
 * only if the source has its final bytes. */
bool sc_inflight_is_stable(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    return is_stable(inflight, info);
}

/* The operation was issued again: moves it to the end of its stream's list, which is in order of
 * issue. It is no longer complete. */
static void move_to_end_of_stream(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    unlink_from_stream(inflight, id);
    mark_retained(inflight, op, false);
    link_to_stream(inflight, id);
}

/* An operation equal to that of the record was issued on the same stream: its record takes all that
 * `info` says, and keeps its links. Before the old source's copies go, they are compared. If the
 * same pages are to be protected they stay so, without a system call; the edges that are shared
 * with other memory are copied anew. */
static void renew_op(struct sc_inflight *inflight, uint32_t id, const struct sc_op_info *info,
                     struct sc_ops *overwritten)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    bool stable = is_stable(inflight, info);
    sc_kernel_flags_note_replacement(inflight, id, info);
    bool guarded_alike = op->first_span && !op->cut && op->info.access == info->access &&
                         op->info.guard_address == info->guard_address &&
                         op->info.guard_bytes == info->guard_bytes;
    add_if_changed(inflight, op, overwritten);
    sc_source_copies_drop_copies(inflight, op);
    if (op->stream_next || op->retained)
        move_to_end_of_stream(inflight, id);
    op->info = *info;
    op->info.stable = stable;
    op->accused = 0;
    if (!guarded_alike || has_unseen_wait_before(inflight, op)) {
        if (op->first_span || op->awaits_guard)
            sc_inflight_unguard(inflight, id);
        guard_op(inflight, id);
    } else {
        op->chosen_ticks = info->ticks;
        if (op->info.shares_pages)
            copy_edges(inflight, op);
    }
    SC_CHECK(check_op(inflight, id));
}

/* A graph was launched again: its operation gets the ticket (stream and number) of the new launch.
 * Returns false, having changed nothing, if the slow way is needed: pages are to be protected that
 * are not or the reverse, or there are copies of the source to be compared first. */
bool sc_inflight_renew_op(struct sc_inflight *inflight, uint32_t id, bool guarded)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op *op = sc_inflight_op(inflight, id);
    bool is_guarded = op->first_span && !op->cut;
    if (is_guarded != guarded || op->first_copy || sc_ops_is_copied(&op->info) || op->info.stable)
        return false;
    if (op->stream_next || op->retained)
        move_to_end_of_stream(inflight, id);
    sc_order_renew_ticket(inflight->order, &op->info.ticket);
    SC_CHECK(check_op(inflight, id));
    return true;
}

/* Must the earlier operation keep its own record, although the new one (`info`) is equal? So if the
 * device still reads the source itself for the earlier one, and a copy of it for the new one:
 * without the earlier record the source would no longer be protected. */
static bool must_keep(struct sc_inflight *inflight, uint32_t earlier, const struct sc_op_info *info)
{
    const struct sc_op_info *op = &sc_inflight_op(inflight, earlier)->info;
    return sc_ops_is_copied(info) && !sc_ops_is_copied(op) &&
           !sc_order_complete(inflight->order, &op->ticket);
}

/* Counts copies from managed memory in flight. While there are some, launches look for them
 * (SC_ATTENDS_MANAGED_SOURCES), since any kernel may write managed memory. */
static void count_managed_sources(struct sc_inflight *inflight, int change)
{
    uint32_t count = inflight->managed_source_count += (uint32_t)change;
    sc_order_attend(inflight->order, SC_ATTENDS_MANAGED_SOURCES, count != 0);
}

/* An operation comes (1) or goes (-1): counts it if it is a copy from managed memory. */
static void count_if_managed_source(struct sc_inflight *inflight, const struct sc_op_info *info,
                                    int change)
{
    if (info->kind == SC_MANAGED && info->direction == SC_H2D)
        count_managed_sources(inflight, change);
}

/* Initialises a new record, as its pool hands it out uncleared. What operations are, `info`, and
 * what the lists and guard_op set, is left to the caller. */
static inline __attribute__((always_inline)) void fill_record(struct sc_op *op, uintptr_t address,
                                                              size_t size_bytes)
{
    set_node(&op->node, address, size_bytes);
    write_link(&op->key_next, 0);
    op->first_span = 0;
    op->first_copy = 0;
    op->accused = 0;
    op->awaits_guard = false;
    op->retained = false;
    op->looked = false;
    op->differs = false;
    atomic_store_explicit(&op->comparing, false, memory_order_relaxed);
}

/* Adds the record to the index by address and to the list of its range (host memory known to the
 * driver) or stand-in, and takes a reference to the stream, whose id must not be given to another
 * one meanwhile. */
static inline __attribute__((always_inline)) void
enter_lists(struct sc_inflight *inflight, uint32_t id, const struct sc_op_info *info)
{
    sc_grid_insert(grid_of(inflight, info->kind), id);
    link_to_range(inflight, id);
    sc_order_reference(inflight->order, info->ticket.stream);
}

/* Makes the record of an operation, and adds it to the lists that operations on host and on device
 * memory have in common. Returns 0 if there is no memory. */
static inline __attribute__((always_inline)) uint32_t make_op(struct sc_inflight *inflight,
                                                              const struct sc_op_info *info)
{
    uint32_t id = sc_pool_take_as_is(&inflight->ops);
    if (!id)
        return 0;
    struct sc_op *op = sc_inflight_op(inflight, id);
    fill_record(op, info->shape.address, sc_shape_hull_bytes(&info->shape));
    op->info = *info;
    op->info.stable = is_stable(inflight, info);
    enter_lists(inflight, id, info);
    return id;
}

/* make_op for operations on device memory (device.c), which are in no list of a stream. */
uint32_t sc_inflight_make_record(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    return make_op(inflight, info);
}

/* Undoes make_op: removes an operation from these lists, and frees its record. The stream's
 * reference goes last, since its record may be given to another stream then. */
static inline __attribute__((always_inline)) void remove_op(struct sc_inflight *inflight,
                                                            uint32_t id)
{
    const struct sc_op_info *info = &sc_inflight_op(inflight, id)->info;
    uint32_t stream = info->ticket.stream;
    SC_CHECK(uint32_t home = sc_inflight_list_owner(inflight, info));
    unlink_from_range(inflight, id);
    sc_grid_remove(grid_of(inflight, info->kind), id);
    sc_pool_release(&inflight->ops, id);
    SC_CHECK(check_lists(inflight, home, stream));
    sc_order_unreference(inflight->order, stream);
}

/* remove_op for operations on device memory (device.c), which are in no list of a stream. */
void sc_inflight_free_record(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    remove_op(inflight, id);
}

/* Records an operation on host memory. A loop over one buffer takes one record: an equal operation
 * is replaced (renew_op), unless its record is still needed (must_keep). A simple copy (of pinned
 * memory, without conflicts) has taken the free slot (the place of a snapshot) that its stream kept
 * for the next snapshot, so the stream is given another one. */
bool sc_inflight_add(struct sc_inflight *inflight, const struct sc_op_info *info,
                     struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_ASSERT(info->kind != SC_DEVICE);
    SC_TRACE("op-add stream number address bytes", info->ticket.stream, info->ticket.number,
             info->shape.address, info->shape.width_bytes);
    if (sc_shape_hull_bytes(&info->shape) == 0)
        return true;
    if (info->is_simple && info->slot)
        sc_staging_refill_kept(info->slot, info->ticket.stream);
    sc_comparisons_note_issued(inflight, info);
    uint32_t id = sc_inflight_find_equal(inflight, info);
    if (id && !must_keep(inflight, id, info)) {
        renew_op(inflight, id, info, overwritten);
        return true;
    }
    id = make_op(inflight, info);
    if (!id)
        return false;
    sc_kernel_flags_note_replacement(inflight, 0, info);
    link_key(inflight, id);
    link_to_stream(inflight, id);
    count_if_managed_source(inflight, info, 1);
    guard_op(inflight, id);
    SC_CHECK(check_op(inflight, id));
    return true;
}

/* ---- simple copies ---- */

/* For so long the choice of the pages that are protected for a copy holds; then it is made anew, as
 * what it rests on (other memory on the pages, refusals of Linux) may have changed. */
enum { CHOSEN_FOR_NS = 50 * 1000 * 1000 };

/* Fills in what a simple copy (of pinned memory, without conflicts, which the short way issues) has
 * as an operation; everything else is zero. Its source can only be compared if it has a snapshot,
 * so only then it is `stable`. */
void sc_inflight_describe_simple_copy(struct sc_inflight *inflight,
                                      const struct sc_simple_copy *copy, struct sc_op_info *info)
{
    struct sc_range *range = sc_inflight_range(inflight, copy->range);
    memset(info, 0, sizeof *info);
    info->direction = copy->to_host ? SC_D2H : SC_H2D;
    info->kind = SC_PINNED;
    info->range = copy->range;
    info->stack = copy->stack;
    info->shape = (struct sc_shape){copy->host, copy->size_bytes, copy->size_bytes, 1};
    info->ticket.stream = copy->stream;
    info->api = copy->api;
    info->origin = atomic_load_explicit(&range->origin, memory_order_relaxed);
    info->thread = copy->thread;
    info->ticks = copy->ticks;
    info->slot = copy->slot;
    info->access = SC_ACCESS_ALL;
    info->stable = copy->slot;
    info->is_simple = true;
}

/* Is the operation equal to this simple copy (of pinned memory, with no conflict): the same bytes,
 * stream and direction? */
static inline bool is_of_copy(const struct sc_op_info *info, const struct sc_simple_copy *copy)
{
    return info->shape.address == copy->host && info->shape.width_bytes == copy->size_bytes &&
           info->ticket.stream == copy->stream && info->range == copy->range &&
           info->shape.rows == 1 && info->direction == (copy->to_host ? SC_D2H : SC_H2D);
}

/* Returns the operation in flight that is equal to this simple copy (of pinned memory, with no
 * conflict), or 0 if there is none. It is is_equal_op's search, without making a whole `struct
 * sc_op_info` first. */
static inline uint32_t find_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    uint32_t id = read_link(key_head(inflight, copy->host, copy->size_bytes, copy->stream));
    while (id && !is_of_copy(&sc_inflight_op(inflight, id)->info, copy))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

/* Asked without the lock, to save a search under it: is anything in the chain in which an equal
 * copy would be? */
bool sc_inflight_may_have_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    return read_link(key_head(inflight, copy->host, copy->size_bytes, copy->stream)) != 0;
}

/* Has the source still the bytes of its snapshot, so that the snapshot can serve the next copy? A
 * large source is compared without the lock (comparisons.c), which sets `looked`, so it is not
 * compared here. Nor is one on a page that may be protected against reading: the read would fault.
 */
static inline bool is_unchanged(struct sc_inflight *inflight, const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    if (op->looked || info->shape.width_bytes >= SC_COMPARISONS_MIN_BYTES)
        return op->looked && !op->differs;
    return !sc_spans_may_forbid_reading(&inflight->guards, info->shape.address,
                                        info->shape.width_bytes) &&
           memcmp((const void *)info->shape.address, info->slot->bytes, info->shape.width_bytes) ==
               0;
}

/* The program uploads the same buffer again: takes the earlier copy's snapshot if the source is
 * still equal to it, which saves filling another one. Not if the device may change the source as
 * well (not `stable`), or while a thread compares it without the lock. The earlier copy is marked
 * as `copied`: its source is compared no more. */
struct sc_slot *sc_inflight_take_snapshot(struct sc_inflight *inflight,
                                          const struct sc_simple_copy *copy)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op *op = sc_inflight_op(inflight, find_alike(inflight, copy));
    struct sc_slot *slot = op->info.slot;
    if (!op->info.is_simple || !slot || !op->info.stable ||
        atomic_load_explicit(&op->comparing, memory_order_relaxed) || !is_unchanged(inflight, op))
        return NULL;
    op->looked = false;
    op->info.slot = NULL;
    op->info.copied = true;
    return slot;
}

/* The driver has refused the copy, or it was not made: gives up the slot (the place of a snapshot)
 * of its snapshot. An empty slot goes back. One that was taken from an equal earlier copy
 * (sc_inflight_take_snapshot) goes back to that copy, if it has no other one. Else the slot is free
 * when all that was issued on the stream is complete. */
void sc_inflight_refuse_simple_copy(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op *op = sc_inflight_op(inflight, find_alike(inflight, copy));
    if (!copy->is_filled) {
        sc_staging_put_back(copy->slot);
    } else if (op->info.is_simple && op->info.copied) {
        op->info.slot = copy->slot;
        op->info.copied = false;
    } else {
        const struct sc_stream *stream = sc_order_stream(inflight->order, copy->stream);
        sc_staging_release(copy->slot,
                           &(struct sc_ticket){.stream = copy->stream,
                                               .number = sc_stream_front_issued(&stream->front)});
    }
}

/* Gives the record of an equal copy the snapshot of the new one, after comparing the source with
 * the old snapshot. Such an operation has no protected pages: the device does not read the source.
 */
static void renew_snapshot(struct sc_inflight *inflight, struct sc_op *op,
                           const struct sc_simple_copy *copy, struct sc_ops *overwritten)
{
    SC_ASSERT(!op->first_span && !op->first_copy && !op->awaits_guard);
    if (op->info.slot) {
        add_if_changed(inflight, op, overwritten);
        sc_source_copies_drop_copies(inflight, op);
        sc_staging_refill_kept(copy->slot, copy->stream);
    }
    op->info.slot = copy->slot;
    op->info.copied = false;
    op->info.stable = true;
}

/* Can the record of the equal earlier copy serve the new one as it is? With a snapshot (`slot`), if
 * the earlier copy had one, too. If its pages are to be protected (`is_guarded`), if all of them
 * still are, and were chosen within the last 50 ms and since the handler of SIGSEGV was last
 * replaced (`doubted_ticks`). Else, if no page is protected. */
static inline bool is_renewable(const struct sc_inflight *inflight, const struct sc_op *op,
                                const struct sc_simple_copy *copy)
{
    static _Atomic uint64_t chosen_for;
    if (!op->info.is_simple || copy->slot)
        return op->info.is_simple && sc_ops_is_copied(&op->info);
    if (!copy->is_guarded)
        return !op->first_span && !op->info.guard_bytes;
    uint64_t most = atomic_load_explicit(&chosen_for, memory_order_relaxed);
    if (!most)
        atomic_store_explicit(&chosen_for, most = sc_ticks_in_ns(CHOSEN_FOR_NS),
                              memory_order_relaxed);
    return op->first_span && !op->cut && !op->info.shares_pages &&
           copy->ticks - op->chosen_ticks < most &&
           op->chosen_ticks >
               atomic_load_explicit(&inflight->guards.doubted_ticks, memory_order_relaxed);
}

/* Issues the equal earlier copy's record again, for the new call. The source is compared first,
 * since the snapshot to compare with is replaced. `accused` is cleared, so that an early access to
 * the new copy is reported again. */
static inline __attribute__((always_inline)) void renew_alike(struct sc_inflight *inflight,
                                                              uint32_t id,
                                                              const struct sc_simple_copy *copy,
                                                              struct sc_ops *overwritten)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    if (copy->slot)
        renew_snapshot(inflight, op, copy, overwritten);
    if (op->stream_next || op->retained)
        move_to_end_of_stream(inflight, id);
    op->info.stack = copy->stack;
    op->info.api = copy->api;
    op->info.thread = copy->thread;
    op->info.ticks = copy->ticks;
    op->info.returned = false;
    op->info.unseen_waits = (struct sc_unseen_mark){0};
    op->accused = 0;
}

/* Makes the record of a simple copy (of pinned memory, with no conflict) to the device that has no
 * equal one. The stream gets another free slot (the place of a snapshot) for its next snapshot.
 * Returns 0 if there is no memory. */
static uint32_t make_upload(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    uint32_t id = sc_pool_take_as_is(&inflight->ops);
    if (!id)
        return 0;
    struct sc_op *op = sc_inflight_op(inflight, id);
    fill_record(op, copy->host, copy->size_bytes);
    sc_inflight_describe_simple_copy(inflight, copy, &op->info);
    op->cut = false;
    enter_lists(inflight, id, &op->info);
    link_key(inflight, id);
    link_to_stream(inflight, id);
    sc_staging_refill_kept(copy->slot, copy->stream);
    return id;
}

/* Records a simple copy (of pinned memory, without conflicts). An equal earlier one is issued again
 * if that is possible. A new record is made only for a copy to the device with a snapshot: one to
 * the host may need pages protected, which the slow way does. */
bool sc_inflight_issue_simple_copy(struct sc_inflight *inflight, const struct sc_simple_copy *copy,
                                   struct sc_ticket *ticket, struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_TRACE("op-simple stream address bytes", copy->stream, copy->host, copy->size_bytes);
    uint32_t id = find_alike(inflight, copy);
    if (id ? !is_renewable(inflight, sc_inflight_op(inflight, id), copy) : !copy->slot)
        return false;
    if (copy->slot && copy->size_bytes >= SC_COMPARISONS_MIN_BYTES)
        sc_comparisons_note_large_source(inflight, copy->stream);
    if (id)
        renew_alike(inflight, id, copy, overwritten);
    else if ((id = make_upload(inflight, copy)) == 0)
        return false;
    struct sc_op *op = sc_inflight_op(inflight, id);
    sc_order_renew_ticket(inflight->order, &op->info.ticket);
    ticket->number = op->info.ticket.number;
    SC_CHECK(check_op(inflight, id));
    return true;
}

/* Forgets the operation: frees its copies of the source, its slots (places of snapshots), and its
 * places in lists, and ends the protection of its pages. Its source is not compared; who wants that
 * does it before. */
void sc_inflight_drop(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_TRACE("op-drop op stream number", id, sc_inflight_op(inflight, id)->info.ticket.stream,
             sc_inflight_op(inflight, id)->info.ticket.number);
    struct sc_op *op = sc_inflight_op(inflight, id);
    SC_CHECK(check_op(inflight, id));
    if (op->first_span || op->awaits_guard)
        sc_inflight_unguard(inflight, id);
    sc_source_copies_drop_copies(inflight, op);
    mark_retained(inflight, op, false);
    unlink_key(inflight, id);
    unlink_from_stream(inflight, id);
    count_if_managed_source(inflight, &op->info, -1);
    remove_op(inflight, id);
}

/* Moves the walk on to the next operation that the host may not know to be done, beginning with the
 * present one. Records of others are in the index until somebody retires them. A kernel may have
 * told the host of its end by a word in memory, which counts as known here. */
static void move_to_in_flight(struct sc_inflight_walk *walk)
{
    for (; walk->at.id; sc_grid_next(&walk->at)) {
        walk->op = sc_inflight_op(walk->inflight, walk->at.id);
        if (!sc_order_known_done(walk->inflight->order, &walk->op->info.ticket) &&
            !sc_kernel_flags_may_show_done(walk->inflight, walk->at.id))
            return;
    }
    walk->op = NULL;
}

/* Begins the walk over operations on host memory, which are in two indexes: on memory that the C
 * library can take away, and on memory that only the driver frees. */
struct sc_inflight_walk sc_inflight_begin_walk(struct sc_inflight *inflight, uintptr_t address,
                                               size_t size_bytes)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_inflight_walk walk = {
        .inflight = inflight,
        .at = sc_grid_begin_walk(&inflight->op_grid, &inflight->heap_grid, address, size_bytes),
    };
    move_to_in_flight(&walk);
    return walk;
}

/* Moves the walk to the next operation in the interval that the host may not know to be done. */
void sc_inflight_next(struct sc_inflight_walk *walk)
{
    sc_grid_next(&walk->at);
    move_to_in_flight(walk);
}

/* Finds the operations in flight in the interval of which anything may be reported. */
void sc_inflight_find_in(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                         struct sc_ops *found)
{
    found->count = 0;
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        sc_ops_add_judged(found, &walk.op->info);
}

/* Has the function returned whose local variable the operation uses (the copy then uses a stack
 * frame that is gone)? So if its return address is no longer where it lay. The stack may be another
 * thread's, and unmapped: then it cannot be read, and nothing is said. A graph may be launched long
 * after that, and is judged elsewhere. */
static bool has_returned(const struct sc_op_info *info)
{
    uintptr_t caller = 0;
    return info->kind == SC_STACK && info->local.frame.place && !info->by_graph &&
           sc_peek_anyhow(&caller, info->local.frame.place, sizeof caller) &&
           caller != info->local.frame.caller;
}

/* The copy is known done: adds it to `overwritten` if the function whose local variable it used had
 * returned by now, or if its source has changed. */
static void judge_source(struct sc_inflight *inflight, struct sc_op *op, struct sc_ops *overwritten)
{
    op->info.returned = has_returned(&op->info);
    if (op->info.returned)
        sc_ops_add(overwritten, &op->info);
    else
        add_if_changed(inflight, op, overwritten);
}

/* Compares the sources of the operation and of those behind it on its stream that are known done.
 * Reading memory that may be unmapped takes a system call, and one call reads several sources. */
static void compare_following(struct sc_inflight *inflight, uint32_t id, unsigned limit)
{
    struct sc_op *ops[SC_PEEK_ITEMS_MAX];
    unsigned count = 0;
    while (id && count < limit && count < SC_PEEK_ITEMS_MAX) {
        struct sc_op *op = sc_inflight_op(inflight, id);
        if (!sc_order_known_done(inflight->order, &op->info.ticket))
            break;
        ops[count++] = op;
        id = op->stream_next;
    }
    sc_source_copies_compare(ops, count);
}

/* Judges the source of an operation that is known done: was it overwritten too early? A source in
 * no range (pageable memory, which the program may have unmapped) is read by a system call, so
 * those behind it are compared with it. */
static void judge_known_op(struct sc_inflight *inflight, uint32_t id, unsigned limit,
                           struct sc_ops *overwritten)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    if (op->info.slot && !op->info.range && !op->looked)
        compare_following(inflight, id, limit);
    judge_source(inflight, op, overwritten);
}

/* Judges the sources of the stream's operations that are known done and about to be forgotten: at
 * most `limit`. Returns how much is left of `limit`. */
static unsigned judge_known(struct sc_inflight *inflight, uint32_t stream, unsigned limit,
                            struct sc_ops *overwritten)
{
    for (uint32_t id = sc_order_stream(inflight->order, stream)->first_op; id && limit; limit--) {
        struct sc_op *op = sc_inflight_op(inflight, id);
        if (!sc_order_known_done(inflight->order, &op->info.ticket))
            break;
        judge_known_op(inflight, id, limit, overwritten);
        id = op->stream_next;
    }
    return limit;
}

/* Judges the sources of all streams' operations that are known done and about to be forgotten. */
static void judge_all_known(struct sc_inflight *inflight, unsigned limit,
                            struct sc_ops *overwritten)
{
    for (uint32_t id = inflight->busy; id && limit;
         id = sc_order_stream(inflight->order, id)->busy_next)
        limit = judge_known(inflight, id, limit, overwritten);
}

struct retiring {
    struct sc_inflight *inflight;
    unsigned limit;
    /* Gets operations whose source was overwritten, as they are forgotten; NULL: no source is
     * compared. */
    struct sc_ops *overwritten;
};

/* Forgets operations of the stream, the oldest first, until one is not known done. Returns false if
 * the limit is reached, so that the caller lets others have the lock and comes again. */
static bool retire_stream(struct retiring *retiring, uint32_t id)
{
    struct sc_inflight *inflight = retiring->inflight;
    const struct sc_stream *stream = sc_order_stream(inflight->order, id);
    while (stream->first_op) {
        struct sc_op *op = sc_inflight_op(inflight, stream->first_op);
        if (!sc_order_known_done(inflight->order, &op->info.ticket))
            return true;
        if (retiring->limit == 0)
            return false;
        if (retiring->overwritten)
            judge_known_op(inflight, stream->first_op, retiring->limit, retiring->overwritten);
        retiring->limit--;
        sc_inflight_drop(inflight, stream->first_op);
    }
    return true;
}

/* Forgets operations that are known done, at most `limit`. If pages are protected against reads,
 * all sources are compared first: when a destination is dropped, its pages stay unreadable until
 * the system call is made, and sources on them could only be read by system calls. */
bool sc_inflight_retire(struct sc_inflight *inflight, uint32_t stream, unsigned limit,
                        struct sc_ops *overwritten)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    bool judges_first = overwritten && inflight->guards.unreadable != 0;
    struct retiring retiring = {inflight, limit, judges_first ? NULL : overwritten};
    if (judges_first && stream)
        judge_known(inflight, stream, limit, overwritten);
    else if (judges_first)
        judge_all_known(inflight, limit, overwritten);
    if (stream)
        return !retire_stream(&retiring, stream);
    for (uint32_t id = inflight->busy, next; id; id = next) {
        next = sc_order_stream(inflight->order, id)->busy_next;
        if (!retire_stream(&retiring, id))
            return true;
    }
    return false;
}

/* A query of the device has shown more of the stream to be complete. Marks these operations as
 * retained: they are kept to find a free or access that only luck made harmless (a latent hazard).
 * `first_open` is the first that is not marked, so each is visited once. Beyond SC_RETAINED_MAX the
 * stream's oldest is forgotten, and counted as not judged. */
void sc_inflight_note_complete(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_stream *stream = sc_order_stream(inflight->order, id);
    uint64_t complete = atomic_load_explicit(&stream->complete, memory_order_relaxed);
    while (stream->first_open) {
        struct sc_op *op = sc_inflight_op(inflight, stream->first_open);
        if (op->info.ticket.number > complete)
            return;
        mark_retained(inflight, op, true);
        if (!inflight->guard_until_known && op->first_span)
            mark_released(inflight, stream->first_open);
        stream->first_open = op->stream_next;
        SC_ASSERT(inflight->retained <= inflight->ops.live);
        if (inflight->retained > SC_RETAINED_MAX) {
            sc_no_verdicts_add(inflight->no_verdicts, SC_NO_VERDICT_OPERATIONS, SC_NO_VERDICT_ROOM,
                               1);
            sc_inflight_drop(inflight, stream->first_op);
        }
    }
}

/* Drops the stream's oldest operation if it is complete, and so kept for latent hazards alone.
 * Returns false if it is not, or the stream has none. */
static bool forget_complete_of(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_stream *stream = sc_order_stream(inflight->order, id);
    bool any = stream->first_op && sc_inflight_op(inflight, stream->first_op)->retained;
    if (any)
        sc_inflight_drop(inflight, stream->first_op);
    return any;
}

/* Called when there is no memory for a record: drops one complete operation, of this stream or else
 * of any. What its loss may hide is a latent hazard alone. */
bool sc_inflight_forget_complete(struct sc_inflight *inflight, uint32_t stream)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    bool any = forget_complete_of(inflight, stream);
    for (uint32_t id = inflight->busy; id && !any;
         id = sc_order_stream(inflight->order, id)->busy_next)
        any = forget_complete_of(inflight, id);
    return any;
}
