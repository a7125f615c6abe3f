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

/* Initialises all tables and indexes of ranges and operations. */
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

static struct sc_range *list_owner_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return sc_inflight_range(inflight, sc_inflight_list_owner(inflight, info));
}

/* Checks, in debug builds, the lists of an operation that was added or moved. */
static SC_CHECKER void check_op(struct sc_inflight *inflight, uint32_t id)
{
    SC_CHECK(const struct sc_op *op = sc_inflight_op(inflight, id));
    SC_CHECK(sc_consistency_of_op(inflight, id));
    SC_CHECK_OF(inflight->ops.live,
                sc_consistency_of_range(inflight, sc_inflight_list_owner(inflight, &op->info)));
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_stream(inflight, op->info.ticket.stream));
    (void)inflight, (void)id;
}

/* Checks the lists that an operation was dropped from. */
static SC_CHECKER void check_lists(struct sc_inflight *inflight, uint32_t home, uint32_t stream)
{
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_range(inflight, home));
    SC_CHECK_OF(inflight->ops.live, sc_consistency_of_stream(inflight, stream));
    (void)inflight, (void)home, (void)stream;
}

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

/* Ranges that it overlaps are removed. Counts and lists of operations are kept for each range, so
 * that most questions are answered by a count. */
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

static inline uint32_t op_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->op_count, memory_order_relaxed);
}

static inline uint32_t writer_count(const struct sc_range *range)
{
    return atomic_load_explicit(&range->writer_count, memory_order_relaxed);
}

/* Adds the change, 1 or -1, to the range's counts for an operation of this direction. */
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

/* Updates the range's only stream, before an operation of the stream is linked. */
static void update_only_stream(struct sc_range *range, uint32_t stream)
{
    uint32_t former = atomic_load_explicit(&range->only_stream, memory_order_relaxed);
    uint32_t only = !range->first_op || former == stream ? stream : 0;
    if (former != only)
        atomic_store_explicit(&range->only_stream, only, memory_order_relaxed);
}

/* Adds the operation at the head of its range's list. */
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

/* Takes the operation out of its range's list. With the last one, the range has no only stream. */
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

/* Removes the range's pages from the set of pages that must not be protected, since other
 * memory may come to lie there. */
static void forget_exempt_pages(struct sc_inflight *inflight, const struct sc_grid_node *node)
{
    uintptr_t mask = inflight->guards.page_mask;
    uintptr_t start = atomic_load_explicit(&node->address, memory_order_relaxed);
    uintptr_t end = start + atomic_load_explicit(&node->size_bytes, memory_order_relaxed);
    sc_exempt_pages_forget(&inflight->exempt_pages, start & ~mask, (end + mask) & ~mask, mask);
}

/* Removes a range, whose memory is no longer known. Its operations go on as operations in no range.
 */
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

void sc_inflight_remove_range_at(struct sc_inflight *inflight, uintptr_t address)
{
    uint32_t range = sc_grid_find_at_locked(&inflight->range_grid, address);
    if (range)
        sc_inflight_remove_range(inflight, range);
}

/* Returns a range of the context's memory, or 0 if there is none. */
static uint32_t range_of_context(struct sc_inflight *inflight, uint32_t context)
{
    SC_GRID_EACH (walk, &inflight->range_grid, 0, SIZE_MAX) {
        struct sc_range *range = sc_inflight_range(inflight, walk.id);
        if (atomic_load_explicit(&range->context, memory_order_relaxed) == context)
            return walk.id;
    }
    return 0;
}

void sc_inflight_remove_ranges_of(struct sc_inflight *inflight, uint32_t context)
{
    for (uint32_t range; (range = range_of_context(inflight, context)) != 0;)
        sc_inflight_remove_range(inflight, range);
}

uint32_t sc_inflight_range_of(struct sc_inflight *inflight, uintptr_t address)
{
    return sc_grid_find_at(&inflight->range_grid, address);
}

/* ---- operations ---- */

/* Returns the grid for operations on this kind of memory: what free() may take away is looked up by
 * each free(), so it has a grid of its own. */
static struct sc_grid *grid_of(struct sc_inflight *inflight, enum sc_buffer_kind kind)
{
    if (kind == SC_DEVICE)
        return &inflight->device_grid;
    return sc_ops_is_heap(kind) ? &inflight->heap_grid : &inflight->op_grid;
}

/* Returns the head of the hash chain for operations with this address, width and stream. */
static _Atomic uint32_t *key_head(struct sc_inflight *inflight, uintptr_t address,
                                  size_t width_bytes, uint32_t stream)
{
    uint64_t key = address * 0x9E3779B97F4A7C15u;
    key ^= (width_bytes + ((uint64_t)stream << 32)) * 0xC2B2AE3D27D4EB4Fu;
    return &inflight->keys[(key >> 33) % SC_INFLIGHT_KEYS];
}

static uint32_t read_link(const _Atomic uint32_t *link)
{
    return atomic_load_explicit(link, memory_order_relaxed);
}

static void write_link(_Atomic uint32_t *link, uint32_t id)
{
    atomic_store_explicit(link, id, memory_order_relaxed);
}

static _Atomic uint32_t *key_head_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return key_head(inflight, info->shape.address, info->shape.width_bytes, info->ticket.stream);
}

/* Are the operations equal, so that the later one replaces the earlier one? */
static bool is_equal_op(const struct sc_op_info *a, const struct sc_op_info *b)
{
    return a->shape.address == b->shape.address && a->shape.width_bytes == b->shape.width_bytes &&
           a->shape.rows == b->shape.rows && a->shape.pitch_bytes == b->shape.pitch_bytes &&
           a->ticket.stream == b->ticket.stream && a->direction == b->direction &&
           a->range == b->range && a->kind == b->kind &&
           a->fold.width_bytes == b->fold.width_bytes && a->fold.pitch_bytes == b->fold.pitch_bytes;
}

uint32_t sc_inflight_find_equal(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t id = read_link(key_head_of(inflight, info));
    while (id && !is_equal_op(&sc_inflight_op(inflight, id)->info, info))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

/* Finds an operation in flight. Several may be equal, so the ticket's number is compared as well:
 * operations whose range was removed are equal to those that were issued in no range. */
uint32_t sc_inflight_find(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uint32_t id = read_link(key_head_of(inflight, info));
    while (id && (!is_equal_op(&sc_inflight_op(inflight, id)->info, info) ||
                  sc_inflight_op(inflight, id)->info.ticket.number != info->ticket.number))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

/* Adds the operation to the hash chain by which equal ones are found. */
static void link_key(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    _Atomic uint32_t *first = key_head_of(inflight, &op->info);
    write_link(&op->key_next, read_link(first));
    write_link(first, id);
}

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

/* Adds the operation at the end of its stream's list. With its first operation, a stream is added
 * to the list of busy streams. */
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

/* Removes the stream from the list of busy streams: those with operations in flight. */
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

static void mark_retained(struct sc_inflight *inflight, struct sc_op *op, bool retained)
{
    inflight->retained += (uint32_t)retained - (uint32_t)op->retained;
    op->retained = retained;
}

/* ---- guards, and copies of what is not guarded ---- */

static void mark_awaits_guard(struct sc_inflight *inflight, struct sc_op *op, bool awaits)
{
    inflight->awaiting_guard += (uint32_t)awaits - (uint32_t)op->awaits_guard;
    op->awaits_guard = awaits;
}

void sc_inflight_unguard(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    struct sc_op *op = sc_inflight_op(inflight, id);
    mark_awaits_guard(inflight, op, false);
    sc_spans_end(&inflight->guards, op->first_span);
    op->first_span = 0;
}

/* Copies the parts of the source that are not guarded, to be compared later. If they cannot be
 * copied, counts the operation as not compared. */
static void copy_edges(struct sc_inflight *inflight, struct sc_op *op)
{
    if (sc_source_copies_copy_edges(inflight, op))
        return;
    inflight->uncompared.operations++;
    inflight->uncompared.bytes += sc_shape_hull_bytes(&op->info.shape);
}

/* Is an unseen wait before the operation still open? Then the host may still touch the bytes, and
 * fill a source. */
static bool has_unseen_wait_before(struct sc_inflight *inflight, const struct sc_op *op)
{
    return sc_unseen_is_open(inflight->order, &op->info.unseen_waits);
}

/* Are pages of the operation to be protected, or copied because they are shared with other memory?
 */
static bool wants_guard(const struct sc_op *op)
{
    return op->info.guard_bytes || op->info.shares_pages;
}

/* Begins to protect an operation's pages, or puts that off until the waits of unseen end before it
 * are over. */
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

/* Begins the guard of an operation that was issued, or issued again, if it is to be guarded. */
static inline void guard_op(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    op->cut = false;
    op->chosen_ticks = op->info.ticks;
    if (wants_guard(op))
        guard_pages(inflight, id);
}

/* Guards operations whose guard was put off because of waits of unseen end, if these are over. */
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

/* Are pages of the operation protected against a touch of this kind? A source may be read. */
static bool is_protected_from(const struct sc_op *op, enum sc_touch touch)
{
    return op->first_span &&
           (touch == SC_TOUCH_WRITE || sc_direction_writes_host(op->info.direction));
}

/* Is the operation complete, so that touches are allowed although its pages may still be protected?
 * Not with strict=1, which wants the program to have waited. */
static bool is_released(const struct sc_inflight *inflight, const struct sc_op *op)
{
    return op->retained && !inflight->guard_until_known;
}

/* Is a touch of this kind, on the operation's pages, to be found? */
static bool forbids(const struct sc_inflight *inflight, const struct sc_op *op, enum sc_touch touch)
{
    return is_protected_from(op, touch) && !is_released(inflight, op);
}

/* Notes that the operation is complete, so that the host may access its pages. They stay protected
 * until SC_RELEASED_MAX others were released after it. Unguards the operation whose place in the
 * ring it takes. */
static void mark_released(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_released *slot = &inflight->released[inflight->released_count % SC_RELEASED_MAX];
    const struct sc_op *oldest = slot->op ? sc_inflight_op(inflight, slot->op) : NULL;
    if (oldest && is_released(inflight, oldest) && oldest->info.ticket.number == slot->number)
        sc_inflight_unguard(inflight, slot->op);
    *slot = (struct sc_released){id, sc_inflight_op(inflight, id)->info.ticket.number};
    inflight->released_count++;
}

static struct sc_op *op_of_span(struct sc_inflight *inflight, uint32_t span)
{
    return sc_inflight_op(inflight, sc_spans_at(&inflight->guards, span)->op);
}

bool sc_inflight_watches_page(struct sc_inflight *inflight, uintptr_t address, enum sc_touch touch)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    SC_GRID_EACH (walk, &inflight->guards.grid, address, 1)
        if (forbids(inflight, op_of_span(inflight, walk.id), touch))
            return true;
    return false;
}

/* Returns an operation that protects a page of the interval against such an access, or NULL. */
static struct sc_op *find_protecting(struct sc_inflight *inflight, uintptr_t address,
                                     size_t size_bytes, enum sc_touch touch)
{
    SC_GRID_EACH (walk, &inflight->guards.grid, address, size_bytes)
        if (is_protected_from(op_of_span(inflight, walk.id), touch))
            return op_of_span(inflight, walk.id);
    return NULL;
}

/* Counts the operation's bytes from `start` to `end`, whose pages are unprotected, as unwatched.
 * Counts nothing if the operation uses an accessed byte itself: then that access is judged. */
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

/* Cuts the spans of all operations on these pages, one operation after the other, until none
 * protects them any more. */
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

/* Does the operation use one of the bytes in such a way that the access has to wait until the
 * operation is done? */
static bool is_too_early(const struct sc_op_info *info, const struct sc_shape *touched,
                         enum sc_touch touch)
{
    return (touch == SC_TOUCH_WRITE || sc_direction_writes_host(info->direction)) &&
           sc_shape_row_touches_folded(touched, &info->shape, &info->fold);
}

void sc_inflight_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                              enum sc_touch touch, struct sc_ops *found)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        if (forbids(inflight, walk.op, touch) && is_too_early(&walk.op->info, &touched, touch))
            sc_ops_add_judged(found, &walk.op->info);
}

/* Would such an access of the interval come too early for some operation? */
static bool is_touch_too_early_for_any(struct sc_inflight *inflight, uintptr_t address,
                                       size_t size_bytes, enum sc_touch touch)
{
    const struct sc_shape touched = {address, size_bytes, size_bytes, 1};
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        if (is_too_early(&walk.op->info, &touched, touch))
            return true;
    return false;
}

/* Looks at all guarded operations on the pages of the interval, not only at those with its bytes.
 */
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

/* Adds the operation to `changed` if its source differs from its copies. If the source differs from
 * its snapshot alone, the device has read the right bytes: the operation is marked as `copied`. If
 * pages were copied later, it is not known which bytes the device has read. */
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

/* Adds to `overwritten` the operations whose sources, in pages of the interval, have changed, and
 * marks those that overlap the interval as not stable. The whole pages count, since the operation
 * that writes the interval may protect them, and then sources in them cannot be read until an
 * access unprotects them. */
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

/* Compares the operation's source for the last time, unless that was done already, if the operation
 * comes before `later`. */
static void compare_last_time(struct sc_inflight *inflight, struct sc_op *op,
                              const struct sc_op_info *later, struct sc_ops *overwritten)
{
    if (!op->info.stable || sc_order_known_done(inflight->order, &op->info.ticket) ||
        (later && !sc_conflicts_is_ordered_after(inflight->order, later, &op->info.ticket)))
        return;
    add_if_changed(inflight, op, overwritten);
    op->info.stable = false;
}

/* Compares, for the last time, sources that the kernel may correctly write. */
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

/* Compares, for the last time, all sources in managed memory that the next kernel may correctly
 * write. */
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

/* Has the source its final bytes now: can only the host have changed them, and writes no operation
 * in flight there? */
static inline bool is_stable(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    return info->stable && info->direction == SC_H2D &&
           (!sc_inflight_may_be_written(inflight, info->range) ||
            !sc_inflight_is_written(inflight, info->range, &info->shape));
}

bool sc_inflight_is_stable(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    return is_stable(inflight, info);
}

/* Moves an operation that is issued again to the end of its stream's list. */
static void move_to_end_of_stream(struct sc_inflight *inflight, uint32_t id)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    unlink_from_stream(inflight, id);
    mark_retained(inflight, op, false);
    link_to_stream(inflight, id);
}

/* Issues the record's operation again, as `info` says, on the same stream: replaces everything but
 * the record's links. The pages stay protected if the same ones are to be. */
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

/* Moves an operation that is issued again to the end of its stream. Returns false if something
 * about it has to change. */
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

/* Must the earlier operation keep a record of its own, although `info` is equal? So if the device
 * reads the source itself for the earlier one, and a copy for `info`: without its record the source
 * would no longer be guarded. */
static bool must_keep(struct sc_inflight *inflight, uint32_t earlier, const struct sc_op_info *info)
{
    const struct sc_op_info *op = &sc_inflight_op(inflight, earlier)->info;
    return sc_ops_is_copied(info) && !sc_ops_is_copied(op) &&
           !sc_order_complete(inflight->order, &op->ticket);
}

/* Counts sources in managed memory. While there are some, each kernel has to look at them. */
static void count_managed_sources(struct sc_inflight *inflight, int change)
{
    uint32_t count = inflight->managed_source_count += (uint32_t)change;
    sc_order_attend(inflight->order, SC_ATTENDS_MANAGED_SOURCES, count != 0);
}

static void count_if_managed_source(struct sc_inflight *inflight, const struct sc_op_info *info,
                                    int change)
{
    if (info->kind == SC_MANAGED && info->direction == SC_H2D)
        count_managed_sources(inflight, change);
}

/* Initialises a new record, except `info` and what the grid, the lists and guard() set. */
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

/* Adds the record to its grid and to the list of its range or stand-in, and takes a reference to
 * the stream. */
static inline __attribute__((always_inline)) void
enter_lists(struct sc_inflight *inflight, uint32_t id, const struct sc_op_info *info)
{
    sc_grid_insert(grid_of(inflight, info->kind), id);
    link_to_range(inflight, id);
    sc_order_reference(inflight->order, info->ticket.stream);
}

/* Makes the record of an operation, and adds it to the lists that all operations are in. Returns 0
 * if there is no memory. */
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

uint32_t sc_inflight_make_record(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    return make_op(inflight, info);
}

/* Undoes make_op: removes an operation from these lists, without judging it, and frees its record.
 */
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

void sc_inflight_free_record(struct sc_inflight *inflight, uint32_t id)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    remove_op(inflight, id);
}

/* Replaces an equal operation, if there is one that need not stay; else makes a new record. */
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

/* For so long pages that are kept off need no second look. */
enum { CHOSEN_FOR_NS = 50 * 1000 * 1000 };

/* Fills in what a simple copy has as an operation; everything else is zero. */
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

/* Is it the operation of an equal simple copy? */
static inline bool is_of_copy(const struct sc_op_info *info, const struct sc_simple_copy *copy)
{
    return info->shape.address == copy->host && info->shape.width_bytes == copy->size_bytes &&
           info->ticket.stream == copy->stream && info->range == copy->range &&
           info->shape.rows == 1 && info->direction == (copy->to_host ? SC_D2H : SC_H2D);
}

/* Returns the operation in flight that is equal to this simple copy, or 0 if there is none. */
static inline uint32_t find_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    uint32_t id = read_link(key_head(inflight, copy->host, copy->size_bytes, copy->stream));
    while (id && !is_of_copy(&sc_inflight_op(inflight, id)->info, copy))
        id = read_link(&sc_inflight_op(inflight, id)->key_next);
    return id;
}

bool sc_inflight_may_have_alike(struct sc_inflight *inflight, const struct sc_simple_copy *copy)
{
    return read_link(key_head(inflight, copy->host, copy->size_bytes, copy->stream)) != 0;
}

/* Is it known that the source still has the bytes of the snapshot? False also if it cannot be read
 * directly, or is large and was not compared yet. */
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

/* Takes the snapshot of an equal earlier copy, if the source has not changed since, so that it need
 * not be copied again. */
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

/* Undoes the beginning of a simple copy that the driver has refused. A slot that was taken from an
 * equal earlier copy is returned to that, if it has no other one. */
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

/* Gives the record of an equal copy another snapshot, after comparing its source with the old one.
 * Such an operation has no guard and no copies of pages. */
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

/* Can the equal earlier operation be issued again as it is? So if it has a snapshot; if all of its
 * pages are guarded, and were chosen lately; or if none are to be. */
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

/* Issues the equal earlier operation again: its record gets the new call's ticket, and its source
 * is compared first, since its copies may be replaced. */
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

/* Makes the record of a simple copy to the device that has no equal one. Returns 0 if there is no
 * memory. */
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

/* Issues an equal earlier operation again if that is possible; a copy to the device may also
 * get a new record. */
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

/* Frees all that belongs to the operation: its copies, slots, pages and places in lists. */
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

/* Moves the walk on to the next operation that is in flight, beginning with the present one. */
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

void sc_inflight_next(struct sc_inflight_walk *walk)
{
    sc_grid_next(&walk->at);
    move_to_in_flight(walk);
}

void sc_inflight_find_in(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                         struct sc_ops *found)
{
    found->count = 0;
    SC_INFLIGHT_EACH (walk, inflight, address, size_bytes)
        sc_ops_add_judged(found, &walk.op->info);
}

/* Has the function returned whose local variable the operation uses? The stack may be another
 * thread's. If it no longer exists and cannot be read, returns false. */
static bool has_returned(const struct sc_op_info *info)
{
    uintptr_t caller = 0;
    return info->kind == SC_STACK && info->local.frame.place && !info->by_graph &&
           sc_peek_anyhow(&caller, info->local.frame.place, sizeof caller) &&
           caller != info->local.frame.caller;
}

/* Adds the operation to `overwritten` if its function has returned, or its source has changed. */
static void judge_source(struct sc_inflight *inflight, struct sc_op *op, struct sc_ops *overwritten)
{
    op->info.returned = has_returned(&op->info);
    if (op->info.returned)
        sc_ops_add(overwritten, &op->info);
    else
        add_if_changed(inflight, op, overwritten);
}

/* Compares the sources of the operation and of those after it that are known done, together, which
 * saves system calls. */
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

/* Judges the source of an operation that is known done, together with others if that saves system
 * calls. */
static void judge_known_op(struct sc_inflight *inflight, uint32_t id, unsigned limit,
                           struct sc_ops *overwritten)
{
    struct sc_op *op = sc_inflight_op(inflight, id);
    if (op->info.slot && !op->info.range && !op->looked)
        compare_following(inflight, id, limit);
    judge_source(inflight, op, overwritten);
}

/* Judges the sources of the stream's operations that are about to be retired. Returns how much is
 * left of `limit`. */
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

/* Judges the sources of all streams' operations that are about to be retired. */
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
    /* Gets overwritten operations as they retire; NULL: none is judged. */
    struct sc_ops *overwritten;
};

/* Retires operations of the stream until one is not known done. Returns false if the limit is
 * reached. */
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

/* Retires operations of the stream that are known done, at most `limit`. If pages are protected
 * against reads, first compares all sources. For when a destination is dropped, its pages stay
 * unreadable until the Linux kernel is told, and sources on them could only be read by system
 * calls. */
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

/* Marks the stream's operations that are complete as retained. Those before first_open are marked
 * already, so each operation is visited once. */
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

/* Drops the stream's oldest operation that is complete and is kept only for latent hazards. Returns
 * false if it has none. */
static bool forget_complete_of(struct sc_inflight *inflight, uint32_t id)
{
    const struct sc_stream *stream = sc_order_stream(inflight->order, id);
    bool any = stream->first_op && sc_inflight_op(inflight, stream->first_op)->retained;
    if (any)
        sc_inflight_drop(inflight, stream->first_op);
    return any;
}

/* Drops one such operation, to have memory: one of this stream, or else of any. */
bool sc_inflight_forget_complete(struct sc_inflight *inflight, uint32_t stream)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    bool any = forget_complete_of(inflight, stream);
    for (uint32_t id = inflight->busy; id && !any;
         id = sc_order_stream(inflight->order, id)->busy_next)
        any = forget_complete_of(inflight, id);
    return any;
}
