#include "track/guarded.h"

#include "track/comparisons.h"
#include "track/inflight.h"
#include "track/no_verdicts.h"
#include "track/ops.h"
#include "track/order.h"

#include "common/poison.h"

/* Asked after a fault, or before a call that uses memory: which operations forbid this access? */
void sc_guarded_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found)
{
    found->count = 0;
    sc_inflight_find_touched(inflight, address, size_bytes, touch, found);
}

/* Notes the operation for which an early access is about to wait (sc_guarded_find_beside_touch). */
void sc_guarded_note_awaited(struct sc_inflight *inflight, const struct sc_ticket *ticket)
{
    inflight->awaited = *ticket;
}

/* An access beside the bytes of what is in flight shall wait with it, as a program that has waited
 * goes on to the bytes beside. If the operation of the last early access is known done, the program
 * may have waited by itself, and nothing is found. */
void sc_guarded_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                  size_t size_bytes, enum sc_touch touch, struct sc_ops *found)
{
    found->count = 0;
    if (inflight->awaited.stream && !sc_order_known_done(inflight->order, &inflight->awaited))
        sc_inflight_find_beside_touch(inflight, address, size_bytes, touch, found);
}

/* The host may go on: unprotects the pages of the access. Operations of which accesses can no
 * longer be noticed are counted as not watched. */
void sc_guarded_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                          enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason)
{
    struct sc_unwatched unwatched = {0, 0};
    sc_inflight_unprotect(inflight, address, size_bytes, touch, keep_copies, &unwatched);
    sc_no_verdicts_add_unwatched(inflight->no_verdicts, reason, unwatched.operations,
                                 unwatched.bytes);
}

/* Returns the record of an operation that a search has found, under the lock of then; NULL: it is
 * gone by now. */
static struct sc_op *find_op(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    uint32_t id = sc_inflight_find(inflight, info);
    return id ? sc_inflight_op(inflight, id) : NULL;
}

/* Finds those operations for which this thread was not the last to be reported: a loop over a
 * buffer touches it many times, and is one mistake. */
void sc_guarded_find_unaccused(struct sc_inflight *inflight, const struct sc_ops *ops,
                               int32_t thread, struct sc_ops *fresh)
{
    fresh->count = 0;
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        const struct sc_op *op = find_op(inflight, &ops->ops[i]);
        if (!op || op->accused != thread)
            sc_ops_add(fresh, &ops->ops[i]);
    }
}

/* The thread was reported for these operations: it is not reported again, unless another thread is
 * reported in between. */
void sc_guarded_accuse(struct sc_inflight *inflight, const struct sc_ops *ops, int32_t thread)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_op *op = find_op(inflight, &ops->ops[i]);
        if (op)
            op->accused = thread;
    }
}

/* An access is about to wait: unprotects operations that are complete by now, and leaves in the
 * list those that it has to wait for. */
void sc_guarded_end_complete(struct sc_inflight *inflight, struct sc_ops *ops)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        uint32_t op = sc_inflight_find(inflight, &ops->ops[i]);
        if (op && !sc_order_complete(inflight->order, &ops->ops[i].ticket))
            ops->ops[kept++] = ops->ops[i];
        else if (op)
            sc_inflight_unguard(inflight, op);
    }
    ops->count = kept;
}

/* Unprotects the operations, for an access that does not wait. Some may be gone by now. */
void sc_guarded_end(struct sc_inflight *inflight, const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        uint32_t op = sc_inflight_find(inflight, &ops->ops[i]);
        if (op)
            sc_inflight_unguard(inflight, op);
    }
}

/* The end of the last page of the address space whose end is an address: so an interval up to it
 * does not overflow. */
static uintptr_t whole_pages_end(const struct sc_inflight *inflight)
{
    return SIZE_MAX - inflight->guards.page_mask;
}

/* Unprotects everything, as the guard ends. */
void sc_guarded_end_all(struct sc_inflight *inflight)
{
    struct sc_unwatched unused = {0, 0};
    sc_inflight_unprotect(inflight, 0, whole_pages_end(inflight), SC_TOUCH_WRITE, false, &unused);
}

/* The process has no mappings left, which protected pages take: unprotects everything, and counts
 * the operations as not watched. Each is counted once, by its first run of pages. */
void sc_guarded_give_up(struct sc_inflight *inflight)
{
    SC_GRID_EACH (walk, &inflight->guards.grid, 0, whole_pages_end(inflight)) {
        const struct sc_op *op =
            sc_inflight_op(inflight, sc_spans_at(&inflight->guards, walk.id)->op);
        if (op->first_span == walk.id)
            sc_no_verdicts_note_unwatched(inflight->no_verdicts, SC_NO_VERDICT_MAPPINGS,
                                          sc_shape_hull_bytes(&op->info.shape));
    }
    sc_guarded_end_all(inflight);
}

/* Returns the next system call that the stripe (pages that share a lock) needs. Changes that need
 * none are done on the way. False: nothing is left. */
bool sc_guarded_apply(struct sc_inflight *inflight, unsigned stripe,
                      struct sc_access_change *change)
{
    bool more;
    do
        more = sc_spans_apply(&inflight->guards, stripe, change);
    while (more && !change->size_bytes);
    return more;
}

/* The system call has failed. If it was to protect pages, their operation is not protected, and
 * counted as not watched; if it was to unprotect them, it will be tried again. */
void sc_guarded_refuse(struct sc_inflight *inflight, const struct sc_access_change *change,
                       enum sc_no_verdict_reason reason)
{
    uint32_t op = sc_spans_refuse(&inflight->guards, change);
    if (op) {
        sc_no_verdicts_note_unwatched(
            inflight->no_verdicts, reason,
            sc_shape_hull_bytes(&sc_inflight_op(inflight, op)->info.shape));
        sc_inflight_unguard(inflight, op);
    }
}

/* Sets whether the range's pages may be protected, unless it has a stricter value: once forbidden
 * they stay so. */
static void raise_guarding(struct sc_range *range, enum sc_guarding guarding)
{
    if (atomic_load_explicit(&range->guarding, memory_order_relaxed) < (unsigned)guarding)
        atomic_store_explicit(&range->guarding, guarding, memory_order_release);
}

/* Sets whether memory of ranges (host memory known to the driver) may be protected. Memory that
 * must not be is unprotected at once, and its operations are counted as not watched. */
void sc_guarded_set(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                    enum sc_guarding guarding)
{
    struct sc_unwatched unwatched = {0, 0};
    SC_GRID_EACH (walk, &inflight->range_grid, address, size_bytes)
        raise_guarding(sc_inflight_range(inflight, walk.id), guarding);
    if (guarding == SC_GUARDING_FORBIDDEN)
        sc_inflight_unprotect(inflight, address, size_bytes, SC_TOUCH_WRITE, false, &unwatched);
    sc_no_verdicts_add_unwatched(inflight->no_verdicts, SC_NO_VERDICT_MEMORY, unwatched.operations,
                                 unwatched.bytes);
}

/* Sets how sources in the range (host memory known to the driver) may be read, unless it has a
 * stricter value: memory that must not be read stays so. */
static void raise_snapshot_limit(struct sc_range *range, enum sc_snapshots snapshots)
{
    if (atomic_load_explicit(&range->snapshots, memory_order_relaxed) < snapshots)
        atomic_store_explicit(&range->snapshots, snapshots, memory_order_release);
}

/* The program may make this memory unreadable: limits how the library reads sources there, and
 * waits until no other thread reads one. */
void sc_guarded_limit_snapshots(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_snapshots snapshots)
{
    SC_GRID_EACH (walk, &inflight->range_grid, address, size_bytes)
        raise_snapshot_limit(sc_inflight_range(inflight, walk.id), snapshots);
    sc_comparisons_await_all(inflight);
}
