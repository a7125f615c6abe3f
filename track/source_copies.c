#include "track/source_copies.h"

#include <string.h>

#include "common/checks.h"
#include "common/peek.h"
#include "track/comparisons.h"
#include "track/staging.h"

#include "common/poison.h"

enum { COPY_BYTES = 4096, COPIES_MAX = 8192 };

/* The bytes of a source (the memory that a copy reads) on a page, or a part of one, as they were
 * when the page was unprotected or the operation was issued. */
struct page_copy {
    uint32_t next;
    uint32_t size_bytes;
    uintptr_t address;
    char bytes[COPY_BYTES];
};

/* Initialises the pool of copies of sources' pages. */
void sc_source_copies_init(struct sc_inflight *inflight)
{
    sc_pool_init(&inflight->copies, sizeof(struct page_copy));
}

/* Returns the copied page with this id. */
static struct page_copy *copy_at(struct sc_inflight *inflight, uint32_t id)
{
    return sc_pool_at(&inflight->copies, id);
}

/* Gives a slot (a place for one snapshot) back to its stream, which keeps it for its next snapshot.
 * The device may still read it until the ticket's operation is complete. */
static inline void release_slot(struct sc_slot **slot, const struct sc_ticket *ticket)
{
    if (*slot)
        sc_staging_release_to_stream(*slot, ticket);
    *slot = NULL;
}

/* Releases the slots (places of snapshots) with the first and the last bytes of a source. Few
 * operations have them, so this is kept out of line. */
static __attribute__((noinline)) void release_edges(struct sc_op_info *info)
{
    release_slot(&info->edges[0], &info->ticket);
    release_slot(&info->edges[1], &info->ticket);
}

/* Releases the operation's slots (places of snapshots) in staging memory: its snapshot, and the
 * copies of its source's first and last bytes. */
inline __attribute__((always_inline)) void sc_source_copies_release_slots(struct sc_op_info *info)
{
    if (info->edges[0] || info->edges[1])
        release_edges(info);
    release_slot(&info->slot, &info->ticket);
}

/* The operation is dropped or issued anew: frees the copies of its source. A thread that compares
 * them without the lock is waited for. */
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

/* Returns how the host may read sources in the operation's range. Memory in no range is pageable,
 * and may be unmapped at any time: it is read by system calls, which then fail and do not fault. */
static enum sc_snapshots snapshots_of(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    if (!info->range)
        return SC_SNAPSHOTS_PEEKED;
    return (enum sc_snapshots)atomic_load_explicit(
        &sc_inflight_range(inflight, info->range)->snapshots, memory_order_acquire);
}

/* May the source be read directly? Pinned memory stays mapped as long as its range is known. Other
 * memory, and pages that may be protected against reading, have to be read by a system call. */
inline __attribute__((always_inline)) bool sc_source_copies_can_read(struct sc_inflight *inflight,
                                                                     const struct sc_op_info *info,
                                                                     uintptr_t address,
                                                                     size_t size_bytes)
{
    return info->kind == SC_PINNED && snapshots_of(inflight, info) == SC_SNAPSHOTS_PLAIN &&
           !sc_spans_may_forbid_reading(&inflight->guards, address, size_bytes);
}

/* Has the memory still these bytes? Memory that a direct read might fault on is read by a system
 * call. What cannot be read at all counts as unchanged. */
static inline __attribute__((always_inline)) bool
has_same_bytes(struct sc_inflight *inflight, const struct sc_op_info *info, uintptr_t address,
               const void *copy, size_t size_bytes)
{
    if (sc_source_copies_can_read(inflight, info, address, size_bytes))
        return memcmp((const void *)address, copy, size_bytes) == 0;
    return sc_peek_equals(address, copy, size_bytes);
}

/* Copies bytes of the source, by a system call where a direct read might fault. Returns false if
 * they cannot be read at all. */
static bool read_source(struct sc_inflight *inflight, const struct sc_op_info *info,
                        uintptr_t address, void *copy, size_t size_bytes)
{
    if (!sc_source_copies_can_read(inflight, info, address, size_bytes))
        return sc_peek_anyhow(copy, address, size_bytes);
    memcpy(copy, (const void *)address, size_bytes);
    return true;
}

/* ---- is it the same? ---- */

/* The bytes that a source (the memory that a copy reads) held: packed from `packed` on, without the
 * gaps between its rows; or, if that is NULL, laid out from `bytes` on as in memory from address
 * `from` on. */
struct kept {
    const char *packed;
    const char *bytes;
    uintptr_t from;
};

/* Returns where the copy has the bytes of this run (bytes of a source without a gap). */
static const char *kept_bytes_of(const struct kept *kept, const struct sc_run *run)
{
    return kept->packed ? kept->packed + run->before_bytes
                        : kept->bytes + (run->address - kept->from);
}

/* Has the source still the bytes of this run (bytes without a gap)? */
static bool is_run_unchanged(struct sc_inflight *inflight, const struct sc_op_info *info,
                             const struct sc_run *run, const struct kept *kept)
{
    return has_same_bytes(inflight, info, run->address, kept_bytes_of(kept, run), run->size_bytes);
}

/* Has the source still its bytes from `from` to `to`? Compares run by run (bytes without a gap):
 * the gaps between its rows are other memory. */
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

/* Has the source still its bytes in a small interval? Reads the interval at once, with the gaps
 * between its rows, to make one system call; if the gaps cannot be read, run by run. */
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

/* Has the source, which has to be read by system calls, still its bytes from `from` to `to`? Rows
 * that are close together are read by one call. A row that is too large for that is compared by
 * itself. */
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

/* Has the source still its bytes from `from` to `to`? Compares in the cheapest way: at once if
 * there are no gaps, row by row if it can be read directly, else with as few system calls as
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

/* Returns the end of the source's last row. */
static uintptr_t end_of(const struct sc_op_info *info)
{
    return info->shape.address + sc_shape_hull_bytes(&info->shape);
}

/* Has the source still the bytes of its snapshot (the copy that the device reads instead)? True if
 * there is none. It may have been compared a moment ago, with others (`looked`). */
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

/* Has the source still the bytes of the copy of its first (0) or last (1) part, which shares a page
 * with other memory and so is not protected? True if there is none. */
static bool equals_edge(struct sc_inflight *inflight, const struct sc_op_info *info, unsigned edge)
{
    uintptr_t end = info->shape.address + info->shape.width_bytes;
    uintptr_t address = edge == 0 ? info->shape.address : end - info->edge_bytes[1];
    return !info->edges[edge] || has_same_bytes(inflight, info, address, info->edges[edge]->bytes,
                                                info->edge_bytes[edge]);
}

/* Have the parts of a source that are not protected still their bytes: its first and last part, and
 * the pages that were copied when they were unprotected? */
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

/* Has the operation copies of parts of its source? */
static bool has_parts(const struct sc_op *op)
{
    return op->first_copy || op->info.edges[0] || op->info.edges[1];
}

/* Was the source overwritten too early? Compares only what nobody but the host can have changed
 * (`stable`) and what may be read at all. An early access to pageable memory that was reported
 * (`accused`) is not reported again here. */
bool sc_source_copies_differ(struct sc_inflight *inflight, const struct sc_op *op)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    const struct sc_op_info *info = &op->info;
    if ((op->accused && !info->range) || !info->stable ||
        snapshots_of(inflight, info) == SC_SNAPSHOTS_NONE)
        return false;
    return !equals_snapshot(inflight, op) || (has_parts(op) && !equal_parts(inflight, op));
}

/* Keeps a copy of bytes of the source, to be compared later. Returns false if there is no memory or
 * the bytes cannot be read, so that an overwrite there would be missed. */
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

/* Copies bytes of the source, in pieces that fit into one record each and end with a page. */
static bool copy_run(struct sc_inflight *inflight, struct sc_op *op, uintptr_t start, uintptr_t end)
{
    bool copied = true;
    for (uintptr_t next; start < end && copied; start = next) {
        next = (start & ~(uintptr_t)(COPY_BYTES - 1)) + COPY_BYTES;
        copied = store_copy(inflight, op, start, next < end ? next : end);
    }
    return copied;
}

/* Is the source compared where its pages are not protected? Only copies to the device have one. Not
 * if the device may change it as well, nor if it has a snapshot, which is compared as a whole. */
static bool is_compared(const struct sc_op_info *info)
{
    return info->direction == SC_H2D && info->stable && !info->slot;
}

/* Copies the source's bytes from `from` to `to`, with the gaps between its rows: to copy each row
 * would need many records. */
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

/* Copies the source's bytes on this page. */
static bool copy_page(struct sc_inflight *inflight, struct sc_op *op, uintptr_t page)
{
    return copy_between(inflight, op, page, page + inflight->guards.page_mask + 1);
}

/* Copies what cannot be protected: the first and the last page, which other memory may share,
 * unless slots (places of snapshots) have them already; or all of a small source that is not
 * protected at all. False: a part could not be copied. */
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

/* Pages of the interval are about to be unprotected: copies the source's bytes on those that the
 * span (a run of protected pages) has there. False: they cannot be compared later, so an overwrite
 * may be missed. */
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

/* Is it a small source in pageable memory that was not compared yet? Several of those are read by
 * one system call. */
static bool needs_system_call(const struct sc_op *op)
{
    const struct sc_op_info *info = &op->info;
    return info->slot && !info->range && info->stable && !op->looked &&
           sc_shape_is_whole(&info->shape, &info->fold) &&
           sc_shape_hull_bytes(&info->shape) <= COPY_BYTES;
}

/* Reads sources that need a system call, all by one, and compares them with their snapshots. The
 * results stay with the operations, which are judged next. What cannot be read counts as unchanged.
 */
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
