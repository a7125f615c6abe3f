/* What the files of the tracker (track/track*.c) share with each other alone: most of all its lock,
 * which all their functions take. */

/* Terms (docs/glossary.md):
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#ifndef SC_TRACK_TRACK_INTERNAL_H
#define SC_TRACK_TRACK_INTERNAL_H

#include "common/brief_lock.h"
#include "track/tracker.h"

struct sc_op_info;
struct sc_simple_copy;

static inline void lock(struct sc_track *track) SC_ACQUIRES(*track) SC_UNFOLLOWED
{
    sc_brief_lock_acquire(&track->lock);
}

static inline bool try_to_lock(struct sc_track *track) SC_TRY_ACQUIRES(true, *track) SC_UNFOLLOWED
{
    return sc_brief_lock_try(&track->lock);
}

static inline void unlock(struct sc_track *track) SC_RELEASES(*track) SC_UNFOLLOWED
{
    sc_brief_lock_release(&track->lock);
}

/* Compares, without the lock, the source of the operation that is equal to `info` and that `info`
 * is about to replace. `copy`: NULL, or the simple copy to the device that `info` describes, which
 * then gets that operation's snapshot if the source has not changed. */
void sc_track_compare_equal(struct sc_track *track, const struct sc_op_info *info,
                            struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* Sets the word that free() and munmap() read first. Called under the lock after every change of
 * what they have to look at: holds, operations and graphs' uses of memory of malloc. */
static inline void publish_watch(struct sc_track *track)
{
    bool watch = track->holds.oldest || !sc_grid_is_empty(&track->inflight.heap_grid) ||
                 !sc_grid_is_empty(&track->graphs.heap_grid);
    if (atomic_load_explicit(&track->front.libc_watch, memory_order_relaxed) != watch)
        atomic_store_explicit(&track->front.libc_watch, watch, memory_order_relaxed);
}

/* Returns the range that contains the whole interval; 0: there is none, or the interval is empty.
 */
uint32_t sc_track_range_of(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* Notes, for checks of debug builds, that all parts of the tracker are guarded by this lock from
 * now on. NULL: by none, as in tests that use parts on one thread. */
static inline void sc_track_guard(struct sc_track *track, const struct sc_brief_lock *lock)
{
    (void)lock;
    SC_GUARD(&track->order.streams, lock);
    SC_GUARD(&track->order.arena, lock);
    SC_GUARD(&track->order.unseen.waits, lock);
    SC_GUARD(&track->inflight.ranges, lock);
    SC_GUARD(&track->inflight.ops, lock);
    SC_GUARD(&track->inflight.copies, lock);
    SC_GUARD(&track->inflight.guards.pool, lock);
    SC_GUARD(&track->holds.pool, lock);
    SC_GUARD(&track->graphs.pool, lock);
    SC_GUARD(&track->graphs.intervals, lock);
    SC_GUARD(&track->graphs.extras, lock);
    SC_GUARD(&track->graphs.by_handle, lock);
    SC_GUARD(&track->graphs.by_node, lock);
    SC_GUARD(&track->graphs.copies, lock);
    SC_GUARD(&track->events.records, lock);
    SC_GUARD(&track->events.records_of, lock);
    SC_GUARD(&track->allocations.blocks, lock);
}

#endif
