/* What the files of the tracker (track/track*.c) share with no others: most of all its lock, which
 * all their functions take. */
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

/* Compares the source of an operation that `info`, equal to it, is about to replace, without the
 * lock. `copy`: NULL, or the simple copy to the device that `info` describes, which then gets its
 * snapshot. */
void sc_track_compare_equal(struct sc_track *track, const struct sc_op_info *info,
                            struct sc_simple_copy *copy) SC_EXCLUDES(*track);

/* Sets the word at which free() and munmap() look first. To be called under the lock after every
 * change of what they have to look at. */
static inline void publish_watch(struct sc_track *track)
{
    bool watch = track->holds.oldest || !sc_grid_is_empty(&track->inflight.heap_grid) ||
                 !sc_grid_is_empty(&track->graphs.heap_grid);
    if (atomic_load_explicit(&track->front.libc_watch, memory_order_relaxed) != watch)
        atomic_store_explicit(&track->front.libc_watch, watch, memory_order_relaxed);
}

/* The range in which all of the interval lies; 0: none, or it has no bytes. */
uint32_t sc_track_range_of(struct sc_track *track, uintptr_t address, size_t size_bytes);

/* For checks: all parts of the track are used with this lock from now on. NULL: without a lock, as
 * tests use parts on one thread. */
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
