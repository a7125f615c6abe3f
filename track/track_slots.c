/* The tracker's functions for snapshots: they take slots of staging memory for sources that
 * operations are to read. */

/* Terms (docs/glossary.md):
 *   complete: finished by the device, whether or not the program knows
 *   in flight: issued, and the host does not know yet that it is done
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   range: host memory that the driver knows: one allocation or one registration
 *   simple copy: a copy between device and pinned memory, on a stream without ties, with no
 *       conflict
 *   slot: the place of one snapshot in staging memory
 *   snapshot: a copy of a small source, which the device reads instead of the source
 *   source: the memory that a copy reads
 *   staging memory: pinned memory of the library's, cut into slots for snapshots
 *   tracker: struct sc_track: operations, order, holds and graphs, behind one lock
 */

#include <errno.h>

#include "track/blocks.h"
#include "track/comparisons.h"
#include "track/staging.h"
#include "track/track_copies.h"
#include "track/track_internal.h"
#include "track/track_ops.h"

#include "common/poison.h"

/* LOOK_FOR_KEPT_EVERY: the slots that streams keep for their next snapshot are called in only every
 * so many times, since that walks all streams. */
enum { FORGOTTEN_FOR_SLOT_MAX = 16, LOOK_FOR_KEPT_EVERY = 64 };

/* Takes a slot (a place for a snapshot) for the source. If none is free and memory may still be
 * added, stores how much, for the caller to add. Else calls in the slots that streams keep, now and
 * then, and at last forgets complete operations, whose slots are free then. */
static struct sc_slot *take_slot(struct sc_track *track, struct sc_staging *staging,
                                 const struct sc_slot_source *source,
                                 struct sc_staging_block *missing)
{
    size_t size_bytes = sc_shape_used_bytes(source->shape, source->fold);
    struct sc_slot *slot = sc_staging_take(staging, size_bytes);
    if (slot || sc_staging_next_block(staging, size_bytes, missing))
        return slot;
    missing->bytes = 0;
    if (staging->wanting++ % LOOK_FOR_KEPT_EVERY == 0) {
        sc_staging_release_all_kept(&track->order);
        slot = sc_staging_take(staging, size_bytes);
    }
    unsigned most = size_bytes < SC_COMPARISONS_MIN_BYTES ? FORGOTTEN_FOR_SLOT_MAX : 1;
    for (unsigned i = 0; i < most && !slot; i++) {
        if (!sc_inflight_forget_complete(&track->inflight, source->stream))
            break;
        slot = sc_staging_take(staging, size_bytes);
    }
    publish_watch(track);
    return slot;
}

/* May an operation in flight write the source, so that a snapshot might have the wrong bytes? In a
 * range (host memory known to the driver) any operation that writes counts, which is quickly told.
 * Operations in no range mostly use other memory, so their bytes are compared. */
static bool is_written(struct sc_track *track, const struct sc_slot_source *source)
{
    struct sc_inflight *inflight = &track->inflight;
    return (source->range &&
            atomic_load_explicit(&sc_inflight_range(inflight, source->range)->writer_count,
                                 memory_order_relaxed) != 0) ||
           sc_inflight_is_written(inflight, source->range, source->shape);
}

/* Takes a slot (the place of a snapshot) for a snapshot of the source; the stream's own needs no
 * lock. -EBUSY: something in flight may write the source, so it has not its final bytes yet. */
int sc_track_take_slot(struct sc_track *track, struct sc_staging *staging,
                       const struct sc_slot_source *source, struct sc_slot **slot,
                       struct sc_staging_block *missing)
{
    int result = -EBUSY;
    bool may_be_written = sc_inflight_may_be_written(&track->inflight, source->range);
    if (!may_be_written) {
        *slot = sc_staging_take_kept(staging, source->stream,
                                     sc_shape_used_bytes(source->shape, source->fold));
        if (*slot)
            return 0;
    }
    lock(track);
    if (!may_be_written || !is_written(track, source)) {
        *slot = take_slot(track, staging, source, missing);
        result = *slot ? 0 : -ENOSPC;
    }
    unlock(track);
    return result;
}

/* ---- simple copies ---- */

/* Does nothing in flight write the range (host memory known to the driver), or memory in no range?
 * Then nothing conflicts with a read of it. */
static bool has_no_writer(struct sc_inflight *inflight, const struct sc_range *range)
{
    return !(atomic_load_explicit(&range->writer_count, memory_order_relaxed) |
             atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed));
}

/* Are all operations in flight, in the range (host memory known to the driver) or in no range, of
 * the copy's own stream? Then they are in its order, and none conflicts. */
static bool has_only_ops_of_stream(struct sc_inflight *inflight, const struct sc_range *range,
                                   uint32_t stream)
{
    return !sc_inflight_may_conflict(range, true, stream) &&
           !sc_inflight_may_conflict(inflight->nowhere, true, stream);
}

/* Returns the pinned memory of the copy's host side; NULL: the copy is not simple. Its other side
 * has to be device memory, so it must not lie where host memory is or was, and there must be no
 * managed memory, which has addresses of both. */
static inline const struct sc_range *find_pinned(struct sc_track *track,
                                                 struct sc_simple_copy *copy)
{
    struct sc_inflight *inflight = &track->inflight;
    copy->range = sc_track_range_of(track, copy->host, copy->size_bytes);
    const struct sc_range *range = sc_inflight_range(inflight, copy->range);
    return copy->range && atomic_load_explicit(&range->kind, memory_order_relaxed) == SC_PINNED &&
                   atomic_load_explicit(&inflight->managed_count, memory_order_relaxed) == 0 &&
                   !sc_blocks_may_hold_one(&inflight->range_blocks, copy->device)
               ? range
               : NULL;
}

/* May the host read the memory without a system call that copes with unreadable pages? */
static inline bool may_be_read_directly(const struct sc_range *range)
{
    return atomic_load_explicit(&range->snapshots, memory_order_acquire) == SC_SNAPSHOTS_PLAIN;
}

/* An equal copy is in flight, of a large source: compares that with its snapshot, without the lock,
 * and takes the snapshot over if they are equal. That takes less time than to copy the source
 * again. */
static __attribute__((noinline)) void compare_large_source(struct sc_track *track,
                                                           struct sc_simple_copy *copy)
{
    struct sc_op_info info;
    copy->api = NULL;
    copy->ticks = copy->stack = 0;
    copy->thread = 0;
    sc_inflight_describe_simple_copy(&track->inflight, copy, &info);
    sc_track_compare_equal(track, &info, copy);
}

/* An equal copy is in flight, of a small source: takes its snapshot over if the source is
 * unchanged. If others have the lock, it is quicker to copy the source again than to wait. */
static void take_over_small_snapshot(struct sc_track *track, struct sc_simple_copy *copy,
                                     const struct sc_range *range)
{
    if (!try_to_lock(track))
        return;
    if (may_be_read_directly(range))
        copy->slot = sc_inflight_take_snapshot(&track->inflight, copy);
    unlock(track);
}

/* Finds the snapshot for a copy to the device: that of an equal earlier copy (then `is_filled`), or
 * an empty slot (the place of a snapshot) that the stream keeps. The copy has none if neither is
 * there. */
static void take_snapshot(struct sc_track *track, struct sc_staging *staging,
                          struct sc_simple_copy *copy, const struct sc_range *range)
{
    if (sc_inflight_may_have_alike(&track->inflight, copy)) {
        if (copy->size_bytes >= SC_COMPARISONS_MIN_BYTES)
            compare_large_source(track, copy);
        else
            take_over_small_snapshot(track, copy, range);
    }
    copy->is_filled = copy->slot;
    if (!copy->slot)
        copy->slot = sc_staging_take_kept(staging, copy->stream, copy->size_bytes);
}

/* Can the copy go the short way: pinned memory, nothing in flight that conflicts, and for a copy to
 * the device a snapshot? A copy to the host needs none. */
bool sc_track_begin_simple_copy(struct sc_track *track, struct sc_staging *staging,
                                struct sc_simple_copy *copy)
{
    struct sc_inflight *inflight = &track->inflight;
    const struct sc_range *range = find_pinned(track, copy);
    copy->slot = NULL;
    if (!range || copy->to_host)
        return range && has_only_ops_of_stream(inflight, range, copy->stream);
    if (has_no_writer(inflight, range) && may_be_read_directly(range))
        take_snapshot(track, staging, copy, range);
    return copy->slot;
}

/* Records a simple copy (of pinned memory, with no conflict). Returns false, having done nothing,
 * if others have issued something meanwhile that may conflict, or if the record has to be made the
 * long way: a copy without a snapshot (`slot`) needs the record of an equal earlier one. */
static bool issue_simply(struct sc_track *track, const struct sc_simple_copy *copy,
                         struct sc_ticket *ticket, struct sc_ops *overwritten)
{
    struct sc_inflight *inflight = &track->inflight;
    const struct sc_range *range = sc_inflight_range(inflight, copy->range);
    if (!copy->slot && !sc_inflight_may_have_alike(inflight, copy))
        return false;
    lock(track);
    bool done = (copy->slot ? has_no_writer(inflight, range)
                            : has_only_ops_of_stream(inflight, range, copy->stream)) &&
                sc_inflight_issue_simple_copy(inflight, copy, ticket, overwritten);
    if (done)
        atomic_store_explicit(&track->operations,
                              atomic_load_explicit(&track->operations, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    unlock(track);
    return done;
}

/* The driver has accepted a simple copy (of pinned memory, with no conflict): records it, or
 * describes it for the caller to record the long way. */
bool sc_track_issue_simple_copy(struct sc_track *track, const struct sc_simple_copy *copy,
                                struct sc_op_info *info, struct sc_issued *issued)
{
    bool done = issue_simply(track, copy, &info->ticket, &issued->overwritten);
    if (!done)
        sc_inflight_describe_simple_copy(&track->inflight, copy, info);
    return done;
}
