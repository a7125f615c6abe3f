#include "track/guarded.h"

#include "track/comparisons.h"
#include "track/inflight.h"
#include "track/no_verdicts.h"
#include "track/ops.h"
#include "track/order.h"

#include "common/poison.h"

void sc_guarded_find_touched(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                             enum sc_touch touch, struct sc_ops *found)
{
    found->count = 0;
    sc_inflight_find_touched(inflight, address, size_bytes, touch, found);
}

void sc_guarded_note_awaited(struct sc_inflight *inflight, const struct sc_ticket *ticket)
{
    inflight->awaited = *ticket;
}

/* Finds operations on the touched pages that do not use the touched bytes themselves. Finds none if
 * the operation of sc_guarded_note_awaited is known done: the program may have waited for that. */
void sc_guarded_find_beside_touch(struct sc_inflight *inflight, uintptr_t address,
                                  size_t size_bytes, enum sc_touch touch, struct sc_ops *found)
{
    found->count = 0;
    if (inflight->awaited.stream && !sc_order_known_done(inflight->order, &inflight->awaited))
        sc_inflight_find_beside_touch(inflight, address, size_bytes, touch, found);
}

/* Ends the guard of pages in the interval. Counts the operations of which touches can no longer be
 * noticed. */
void sc_guarded_unprotect(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                          enum sc_touch touch, bool keep_copies, enum sc_no_verdict_reason reason)
{
    struct sc_unwatched unwatched = {0, 0};
    sc_inflight_unprotect(inflight, address, size_bytes, touch, keep_copies, &unwatched);
    sc_no_verdicts_add_unwatched(inflight->no_verdicts, reason, unwatched.operations,
                                 unwatched.bytes);
}

static struct sc_op *find_op(struct sc_inflight *inflight, const struct sc_op_info *info)
{
    uint32_t id = sc_inflight_find(inflight, info);
    return id ? sc_inflight_op(inflight, id) : NULL;
}

/* Finds those operations for which this thread was not the last to be accused. */
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

/* Records that the touch of these operations was reported, so that the same one is not reported
 * again. */
void sc_guarded_accuse(struct sc_inflight *inflight, const struct sc_ops *ops, int32_t thread)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        struct sc_op *op = find_op(inflight, &ops->ops[i]);
        if (op)
            op->accused = thread;
    }
}

/* Ends the guard of operations that are complete, and removes them, and those that are gone, from
 * the list. */
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

/* Ends the guards of the operations; those that are no longer in flight are skipped. */
void sc_guarded_end(struct sc_inflight *inflight, const struct sc_ops *ops)
{
    for (unsigned i = 0; i < sc_ops_count_kept(ops); i++) {
        uint32_t op = sc_inflight_find(inflight, &ops->ops[i]);
        if (op)
            sc_inflight_unguard(inflight, op);
    }
}

static uintptr_t whole_pages_end(const struct sc_inflight *inflight)
{
    return SIZE_MAX - inflight->guards.page_mask;
}

void sc_guarded_end_all(struct sc_inflight *inflight)
{
    struct sc_unwatched unused = {0, 0};
    sc_inflight_unprotect(inflight, 0, whole_pages_end(inflight), SC_TOUCH_WRITE, false, &unused);
}

/* Counts each guarded operation once, by its first span. */
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

/* Applies changes until one needs a system call, and stores that one. False: nothing is left. */
bool sc_guarded_apply(struct sc_inflight *inflight, unsigned stripe,
                      struct sc_access_change *change)
{
    bool more;
    do
        more = sc_spans_apply(&inflight->guards, stripe, change);
    while (more && !change->size_bytes);
    return more;
}

/* Ends the guard of the operation of a change that Linux has refused; the operation is then not
 * watched. */
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

/* Raises the range's value: memory that was once forbidden stays so. */
static void raise_guarding(struct sc_range *range, enum sc_guarding guarding)
{
    if (atomic_load_explicit(&range->guarding, memory_order_relaxed) < (unsigned)guarding)
        atomic_store_explicit(&range->guarding, guarding, memory_order_release);
}

/* Sets whether memory of a range may be guarded. Memory that must not be is unguarded at once. */
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

/* Sets the range's value unless it has a stricter one: memory that must not be read stays so. */
static void raise_snapshot_limit(struct sc_range *range, enum sc_snapshots snapshots)
{
    if (atomic_load_explicit(&range->snapshots, memory_order_relaxed) < snapshots)
        atomic_store_explicit(&range->snapshots, snapshots, memory_order_release);
}

/* Limits how sources in these ranges may be read. Then waits until no other thread reads one, since
 * the memory may now be unreadable. */
void sc_guarded_limit_snapshots(struct sc_inflight *inflight, uintptr_t address, size_t size_bytes,
                                enum sc_snapshots snapshots)
{
    SC_GRID_EACH (walk, &inflight->range_grid, address, size_bytes)
        raise_snapshot_limit(sc_inflight_range(inflight, walk.id), snapshots);
    sc_comparisons_await_all(inflight);
}
