/* Compares large sources of copies with their snapshots while the tracker's lock is not held, since
 * comparing 64 KB takes as long as a hundred uses of the lock. A source that differs from its
 * snapshot was overwritten by the program too early.
 *
 * While a source is being compared, its operation and its slot stay. Whoever drops the operation,
 * frees its memory or protects it against reading waits for the end of the comparison: some tens of
 * microseconds at most. The comparing thread counts as holding a lock of the library's
 * (common/library_lock.h). A change of the source after the comparison and before the lock is taken
 * again is not found. That is correct, since the copy is done by then. */

/* Terms (docs/glossary.md):
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   point: all work issued on a stream so far, with what that work had waited for (its clock)
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_COMPARISONS_H
#define SC_TRACK_COMPARISONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "track/inflight.h"
#include "track/order.h"

enum {
    SC_COMPARISONS_MAX = 8, /* sources that are compared at a time */
    /* smaller sources are compared under the lock, which is faster than to release it and take it
     * again */
    SC_COMPARISONS_MIN_BYTES = 8192,
};

struct sc_comparison {
    struct sc_op *op;
    struct sc_ticket ticket;
    const void *source, *copy;
    size_t size_bytes;
    bool differs;
};

struct sc_comparisons {
    unsigned count;
    struct sc_comparison of[SC_COMPARISONS_MAX];
};

/* Asked after a wait for the point (work issued so far). Returns false only if none of its streams
 * has a source in flight that is large enough to be compared without the lock. Lock-free. */
static inline bool sc_comparisons_may_be_needed(struct sc_order *order,
                                                const struct sc_point *point)
{
    const _Atomic bool *some = sc_order_is_of_one_stream(point)
                                   ? &sc_order_stream(order, point->stream)->has_large_sources
                                   : &order->has_large_sources;
    return atomic_load_explicit(some, memory_order_relaxed);
}

/* Notes that the stream may have a large source in flight from now on. Under the lock. */
static inline void sc_comparisons_note_large_source(struct sc_inflight *inflight, uint32_t stream)
{
    atomic_store_explicit(&sc_order_stream(inflight->order, stream)->has_large_sources, true,
                          memory_order_relaxed);
    atomic_store_explicit(&inflight->order->has_large_sources, true, memory_order_relaxed);
}

/* Notes that an operation was issued, if it has a snapshot and its source is large. Under the lock.
 */
static inline void sc_comparisons_note_issued(struct sc_inflight *inflight,
                                              const struct sc_op_info *info)
{
    SC_ASSERT_GUARDED(&inflight->ops);
    if (info->slot && sc_shape_hull_bytes(&info->shape) >= SC_COMPARISONS_MIN_BYTES)
        sc_comparisons_note_large_source(inflight, info->ticket.stream);
}

/* Lists operations that the point covers (the host has just waited for it) and whose sources are
 * large, at most SC_COMPARISONS_MAX, and keeps them from being dropped until sc_comparisons_make
 * has compared them. Under the lock. */
void sc_comparisons_begin(struct sc_inflight *inflight, const struct sc_point *point,
                          struct sc_comparisons *comparisons);

/* Lists the operation that is equal to `info`, if there is one with a large source: the caller is
 * about to record `info` in its place. Under the lock. */
void sc_comparisons_begin_equal(struct sc_inflight *inflight, const struct sc_op_info *info,
                                struct sc_comparisons *comparisons);

/* Compares the listed sources with their snapshots. Called without the lock. The calling thread
 * counts as holding a lock of the library's from sc_comparisons_begin until this returns. */
void sc_comparisons_make(struct sc_inflight *inflight, struct sc_comparisons *comparisons);

/* Stores the results of the comparisons in those operations that were not issued again meanwhile,
 * so that their sources are not compared under the lock. Under the lock. */
void sc_comparisons_end(struct sc_inflight *inflight, const struct sc_comparisons *comparisons);

/* Drops results that say "equal", since the program may change the source after them: the
 * operations are compared again when the host knows them to be done. Under the lock. */
void sc_comparisons_discard(const struct sc_comparisons *comparisons);

/* Waits until no thread compares the operation's source. Called under the lock, so that no thread
 * can begin to compare it. */
void sc_comparisons_await_op(struct sc_op *op);
static inline void sc_comparisons_await(struct sc_op *op)
{
    if (__builtin_expect(atomic_load_explicit(&op->comparing, memory_order_acquire), 0))
        sc_comparisons_await_op(op);
}
/* Waits until no thread compares any source. Called under the lock, so that no thread can begin to.
 */
void sc_comparisons_await_all(struct sc_inflight *inflight);

#endif
