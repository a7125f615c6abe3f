#include "track/source_copies.h"

#include <string.h>

#include "common/checks.h"
#include "common/peek.h"
#include "track/comparisons.h"
#include "track/staging.h"

#include "common/poison.h"

enum { COPY_BYTES = 4096, COPIES_MAX = 8192 };

/* The bytes of a source on a page, or a part of one, when the page was let go or the operation was
 * issued. */
struct page_copy {
    uint32_t next;
    uint32_t size_bytes;
    uintptr_t address;
    char bytes[COPY_BYTES];
};

void sc_source_copies_init(struct sc_inflight *inflight)
{
    sc_pool_init(&inflight->copies, sizeof(struct page_copy));
}

static struct page_copy *copy_at(struct sc_inflight *inflight, uint32_t id)
{
    return sc_pool_at(&inflight->copies, id);
}

/* Gives the slot back to its stream, for the stream's next snapshot. */
static inline void release_slot(struct sc_slot **slot, const struct sc_ticket *ticket)
{
    if (*slot)
        sc_staging_release_to_stream(*slot, ticket);
    *slot = NULL;
}

static __attribute__((noinline)) void release_edges(struct sc_op_info *info)
{
    release_slot(&info->edges[0], &info->ticket);
    release_slot(&info->edges[1], &info->ticket);
}

inline __attribute__((always_inline)) void sc_source_copies_release_slots(struct sc_op_info *info)
{
    if (info->edges[0] || info->edges[1])
        release_edges(info);
    release_slot(&info->slot, &info->ticket);
}

/* Waits for a comparison that is under way before it frees the copies. */
void sc_source_copies_drop_copies(struct sc_inflight *inflight, struct sc_op *op)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    sc_comparisons_await(op);
    op->looked = false;
    for (uint32_t id = op->first_copy, next; id; id = next) {
        next = copy_at(inflight, id)->next;
        sc_pool_release(&inflight->copies, id);
    }
    op->first_copy = 0;
    sc_source_copies_release_slots(&op->info);
}

/* Returns how the host may read sources in the operation's range; pageable memory by system calls
 * only. */
static enum sc_snapshots snapshots_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    if (!info->range)
        return SC_SNAPSHOTS_PEEKED;
    return (enum sc_snapshots)atomic_load_explicit(
        &sc_inflight_range(inflight, info->range)->snapshots, memory_order_acquire);
}

/* Returns true if the source may be read directly. Pinned memory exists as long as its range is
 * known. Other memory, and pages that may be protected, have to be read by a system call. */
inline __attribute__((always_inline)) bool sc_source_copies_can_read(struct sc_inflight *inflight,
                                                                     const struct sc_op_info *info,
                                                                     uintptr_t address,
                                                                     size_t size_bytes)
{
    return info->kind == SC_PINNED && snapshots_of(inflight, info) == SC_SNAPSHOTS_PLAIN &&
           !sc_spans_may_forbid_reading(&inflight->guards, address, size_bytes);
}

/* Returns true if the memory still has these bytes. */
static inline __attribute__((always_inline)) bool
has_same_bytes(struct sc_inflight *inflight, const struct sc_op_info *info, uintptr_t address,
               const void *copy, size_t size_bytes)
{
    if (sc_source_copies_can_read(inflight, info, address, size_bytes))
        return memcmp((const void *)address, copy, size_bytes) == 0;
    return sc_peek_equals(address, copy, size_bytes);
}

/* Copies bytes of the source. Returns false if they cannot be read at all. */
static bool read_source(struct sc_inflight *inflight, const struct sc_op_info *info,
                        uintptr_t address, void *copy, size_t size_bytes)
{
    if (!sc_source_copies_can_read(inflight, info, address, size_bytes))
        return sc_peek_anyhow(copy, address, size_bytes);
    memcpy(copy, (const void *)address, size_bytes);
    return true;
}

/* ---- is it the same? ---- */

/* The bytes that a source held: packed from `packed` on, or, if that is NULL, laid out from `bytes`
 * on as in memory from address `from` on. */
struct kept {
    const char *packed;
    const char *bytes;
    uintptr_t from;
};

static const char *kept_bytes_of(const struct kept *kept, const struct sc_run *run)
{
    return kept->packed ? kept->packed + run->before_bytes
                        : kept->bytes + (run->address - kept->from);
}

static bool is_run_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                             const struct sc_run *run, const struct kept *kept)
{
    return has_same_bytes(inflight, info, run->address, kept_bytes_of(kept, run), run->size_bytes);
}

/* Does the source still have its bytes from `from` to `to`? Compares each run of bytes separately.
 */
static bool are_runs_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                               uintptr_t from, uintptr_t to, const struct kept *kept)
{
    struct sc_runs runs = sc_shape_runs_between(&info->shape, &info->fold, from, to);
    struct sc_run run;
    while (sc_shape_next_run(&runs, &run))
        if (!is_run_unchanged(inflight, info, &run, kept))
            return false;
    return true;
}

/* Does the source still have its bytes in a small interval? Reads the interval at once, with the
 * gaps between its runs. */
static bool is_window_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                                uintptr_t from, uintptr_t to, const struct kept *kept)
{
    static char window[COPY_BYTES]; /* under the owner's lock */
    struct sc_runs runs = sc_shape_runs_between(&info->shape, &info->fold, from, to);
    struct sc_run run;
    if (!sc_peek_anyhow(window, from, to - from))
        return are_runs_unchanged(inflight, info, from, to, kept);
    while (sc_shape_next_run(&runs, &run))
        if (memcmp(window + (run.address - from), kept_bytes_of(kept, &run), run.size_bytes) != 0)
            return false;
    return true;
}

/* Does the source, which has to be read by system calls, still have its bytes from `from` to `to`?
 * Reads neighbouring runs together, to make few system calls. */
static bool are_windows_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                                  uintptr_t from, uintptr_t to, const struct kept *kept)
{
    struct sc_runs runs = sc_shape_runs_between(&info->shape, &info->fold, from, to);
    struct sc_run run;
    uintptr_t start = 0, end = 0; /* of the window */
    while (sc_shape_next_run(&runs, &run)) {
        uintptr_t run_end = run.address + run.size_bytes;
        if (end && run_end - start > COPY_BYTES) {
            if (!is_window_unchanged(inflight, info, start, end, kept))
                return false;
            end = 0;
        }
        if (run.size_bytes > COPY_BYTES) {
            if (!is_run_unchanged(inflight, info, &run, kept))
                return false;
        } else {
            start = end ? start : run.address;
            end = run_end;
        }
    }
    return !end || is_window_unchanged(inflight, info, start, end, kept);
}

/* Does the source still have its bytes from `from` to `to`? Compares in the cheapest way that is
 * possible. */
static bool is_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                         uintptr_t from, uintptr_t to, const struct kept *kept)
{
    const struct sc_run whole = {from, to - from, from - info->shape.address};
    if (sc_shape_is_whole(&info->shape, &info->fold))
        return is_run_unchanged(inflight, info, &whole, kept);
    if (sc_source_copies_can_read(inflight, info, from, to - from))
        return are_runs_unchanged(inflight, info, from, to, kept);
    return are_windows_unchanged(inflight, info, from, to, kept);
}

static uintptr_t end_of(const struct sc_op_info *info)
{
    return info->shape.address + sc_shape_hull_bytes(&info->shape);
}

/* Does the source still have the bytes of its snapshot? True if there is none. */
static bool equals_snapshot(struct sc_inflight *inflight, const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    if (op->looked)
        return !op->differs;
    if (info->slot && sc_shape_is_whole(&info->shape, &info->fold))
        return has_same_bytes(inflight, info, info->shape.address, info->slot->bytes,
                              sc_shape_hull_bytes(&info->shape));
    return !info->slot || is_unchanged(inflight, info, info->shape.address, end_of(info),
                                       &(struct kept){.packed = info->slot->bytes});
}

/* Does the source still have the bytes of the copy of one of its edges (0 or 1)? True if there is
 * none. */
static bool equals_edge(struct sc_inflight *inflight, const struct sc_op_info *info, unsigned edge)
{
    uintptr_t end = info->shape.address + info->shape.width_bytes;
    uintptr_t address = edge == 0 ? info->shape.address : end - info->edge_bytes[1];
    return !info->edges[edge] || has_same_bytes(inflight, info, address, info->edges[edge]->bytes,
                                                info->edge_bytes[edge]);
}

/* Returns true if the parts of a source without a snapshot still have their bytes: its edges, and
 * the copied pages. */
static __attribute__((noinline)) bool equal_parts(struct sc_inflight *inflight,
                                                  const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    bool same = equals_edge(inflight, info, 0) && equals_edge(inflight, info, 1);
    for (uint32_t id = op->first_copy; id && same; id = copy_at(inflight, id)->next) {
        const struct page_copy *copy = copy_at(inflight, id);
        same = is_unchanged(inflight, info, copy->address, copy->address + copy->size_bytes,
                            &(struct kept){.bytes = copy->bytes, .from = copy->address});
    }
    return same;
}

/* Has the operation copies of pages or edges of its source? */
static bool has_parts(const struct sc_op *op)
{
    return op->first_copy || op->info.edges[0] || op->info.edges[1];
}

/* Compares only what nobody but the host can have changed, and what may be read at all. */
bool sc_source_copies_differ(struct sc_inflight *inflight, const struct sc_op *op)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_op_info *info = &op->info;
    if ((op->accused && !info->range) || !info->stable ||
        snapshots_of(inflight, info) == SC_SNAPSHOTS_NONE)
        return false;
    return !equals_snapshot(inflight, op) || (has_parts(op) && !equal_parts(inflight, op));
}

/* Stores a copy of bytes of the source with the operation. Returns false if there is no memory, or
 * they cannot be read. */
static bool store_copy(struct sc_inflight *inflight, struct sc_op *op, uintptr_t start,
                       uintptr_t end)
{
    uint32_t id = inflight->copies.live < COPIES_MAX ? sc_pool_take_as_is(&inflight->copies) : 0;
    if (!id)
        return false;
    struct page_copy *copy = copy_at(inflight, id);
    copy->address = start;
    copy->size_bytes = (uint32_t)(end - start);
    copy->next = op->first_copy;
    bool read = read_source(inflight, &op->info, start, copy->bytes, end - start);
    if (read)
        op->first_copy = id;
    else
        sc_pool_release(&inflight->copies, id);
    return read;
}

/* Copies a run of bytes, page by page, in pieces that fit into one copy each. */
static bool copy_run(struct sc_inflight *inflight, struct sc_op *op, uintptr_t start, uintptr_t end)
{
    bool copied = true;
    for (uintptr_t next; start < end && copied; start = next) {
        next = (start & ~(uintptr_t)(COPY_BYTES - 1)) + COPY_BYTES;
        copied = store_copy(inflight, op, start, next < end ? next : end);
    }
    return copied;
}

/* Is the operation's source compared where it is not guarded? */
static bool is_compared(const struct sc_op_info *info)
{
    return info->direction == SC_H2D && info->stable && !info->slot;
}

/* Copies the source's bytes from `from` to `to`, with the gaps between the first and the last run
 * there: to copy each run would need many copies. */
static bool copy_between(struct sc_inflight *inflight, struct sc_op *op, uintptr_t from,
                         uintptr_t to)
{
    struct sc_runs runs = sc_shape_runs_between(&op->info.shape, &op->info.fold, from, to);
    struct sc_run run;
    uintptr_t start = 0, end = 0;
    while (sc_shape_next_run(&runs, &run)) {
        start = end ? start : run.address;
        end = run.address + run.size_bytes;
    }
    return copy_run(inflight, op, start, end);
}

static bool copy_page(struct sc_inflight *inflight, struct sc_op *op, uintptr_t page)
{
    return copy_between(inflight, op, page, page + inflight->guards.page_mask + 1);
}

/* Copies what is not guarded: the first and the last page, or all of a small source. */
bool sc_source_copies_copy_edges(struct sc_inflight *inflight, struct sc_op *op)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_op_info *info = &op->info;
    uintptr_t mask = inflight->guards.page_mask;
    uintptr_t first = info->shape.address & ~mask;
    uintptr_t last = (end_of(info) - 1) & ~mask;
    bool whole = !info->guard_bytes && sc_shape_hull_bytes(&info->shape) <= SC_COMPARED_WHOLE_BYTES;
    bool copied = true;
    if (!is_compared(info))
        return true;
    for (uintptr_t page = first + mask + 1; whole && page < last; page += mask + 1)
        copied &= copy_page(inflight, op, page);
    if (!info->edges[0] && (!info->guard_bytes || first < info->guard_address))
        copied &= copy_page(inflight, op, first);
    if (!info->edges[1] && last != first &&
        (!info->guard_bytes || last >= info->guard_address + info->guard_bytes))
        copied &= copy_page(inflight, op, last);
    return copied;
}

/* Copies the source's bytes on the pages that the interval and the span have in common. */
bool sc_source_copies_copy_pages(struct sc_inflight *inflight, struct sc_op *op, uint32_t span,
                                 uintptr_t start, uintptr_t end)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    uintptr_t first = sc_span_start(sc_spans_at(&inflight->guards, span));
    uintptr_t last = sc_span_end(sc_spans_at(&inflight->guards, span));
    bool copied = is_compared(&op->info);
    uintptr_t mask = inflight->guards.page_mask;
    start &= ~mask;
    for (uintptr_t page = first > start ? first : start; page < last && page < end;
         page += mask + 1)
        copied = copied && copy_page(inflight, op, page);
    return copied;
}

/* ---- many at a time ---- */

/* Is it a small source in pageable memory, which has to be read by a system call? */
static bool needs_system_call(const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    return info->slot && !info->range && info->stable && !op->looked &&
           sc_shape_is_whole(&info->shape, &info->fold) &&
           sc_shape_hull_bytes(&info->shape) <= COPY_BYTES;
}

/* Reads all sources by one system call, and compares them. */
void sc_source_copies_compare(struct sc_op *const *ops, unsigned count)
{
    static char found[SC_PEEK_ITEMS_MAX][COPY_BYTES]; /* under the owner's lock */
    struct sc_peek_item items[SC_PEEK_ITEMS_MAX];
    struct sc_op *looked[SC_PEEK_ITEMS_MAX];
    unsigned used = 0;
    for (unsigned i = 0; i < count && used < SC_PEEK_ITEMS_MAX; i++) {
        if (!needs_system_call(ops[i]))
            continue;
        const struct sc_shape *shape = &ops[i]->info.shape;
        items[used] =
            (struct sc_peek_item){found[used], shape->address, sc_shape_hull_bytes(shape), false};
        looked[used++] = ops[i];
    }
    sc_peek_all(items, used);
    for (unsigned i = 0; i < used; i++) {
        looked[i]->looked = true;
        looked[i]->differs =
            items[i].read && memcmp(found[i], looked[i]->info.slot->bytes, items[i].size_bytes);
    }
}
