/* The tracker's functions for snapshots: they take slots of staging memory for sources that
 * operations are to read. */
#include <errno.h>

#include "track/blocks.h"
#include "track/comparisons.h"
#include "track/staging.h"
#include "track/track_copies.h"
#include "track/track_internal.h"
#include "track/track_ops.h"

#include "common/poison.h"

/* LOOK_FOR_KEPT_EVERY: streams' kept slots are called in only every so many times, since that walks
 * all streams. */
enum { FORGOTTEN_FOR_SLOT_MAX = 16, LOOK_FOR_KEPT_EVERY = 64 };

/* Takes a slot. If none is free, and no block may be added, snapshots of complete operations are
 * given up. */
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

/* May an operation in flight write the source? In a range, any operation that writes counts, since
 * that is a quick test. Operations in no range mostly use other memory, so their bytes are
 * compared. */
static bool is_written(struct sc_track *track, const struct sc_slot_source *source)
{
    struct sc_inflight *inflight = &track->inflight;
    return (source->range &&
            atomic_load_explicit(&sc_inflight_range(inflight, source->range)->writer_count,
                                 memory_order_relaxed) != 0) ||
           sc_inflight_is_written(inflight, source->range, source->shape);
}

/* First tries the slot that the stream has kept, which needs no lock. */
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

/* Does nothing in flight write the range, so that nothing conflicts with a read of it? */
static bool has_no_writer(struct sc_inflight *inflight, const struct sc_range *range)
{
    return !(atomic_load_explicit(&range->writer_count, memory_order_relaxed) |
             atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed));
}

/* Are all operations in flight, in the range or in no range, of the copy's own stream, so that none
 * conflicts with a copy to the host? */
static bool has_only_ops_of_stream(struct sc_inflight *inflight, const struct sc_range *range,
                                   uint32_t stream)
{
    return !sc_inflight_may_conflict(range, true, stream) &&
           !sc_inflight_may_conflict(inflight->nowhere, true, stream);
}

/* Returns the pinned range of the host's side, if the other side is device memory; else NULL. */
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

static inline bool may_be_read_directly(const struct sc_range *range)
{
    return atomic_load_explicit(&range->snapshots, memory_order_acquire) == SC_SNAPSHOTS_PLAIN;
}

/* Compares the source of an equal earlier copy without the lock, and takes over its snapshot if the
 * source is unchanged: to compare a large source takes less time than to copy it. */
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

/* Takes over the snapshot of an equal earlier copy for a small source, if the lock is free. While
 * other threads wait for the lock, it is quicker to copy the source again. */
static void take_over_small_snapshot(struct sc_track *track, struct sc_simple_copy *copy,
                                     const struct sc_range *range)
{
    if (!try_to_lock(track))
        return;
    if (may_be_read_directly(range))
        copy->slot = sc_inflight_take_snapshot(&track->inflight, copy);
    unlock(track);
}

/* Takes over the snapshot of an equal earlier copy, or else a slot that the stream has kept. */
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

/* Begins a simple copy. A copy to the host needs no slot; it is simple if nothing in flight
 * conflicts. */
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

/* Records a simple copy. Returns false, having done nothing, if it needs an equal one in flight and
 * there is none, or if other threads have issued something meanwhile. */
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

bool sc_track_issue_simple_copy(struct sc_track *track, const struct sc_simple_copy *copy,
                                struct sc_op_info *info, struct sc_issued *issued)
{
    bool done = issue_simply(track, copy, &info->ticket, &issued->overwritten);
    if (!done)
        sc_inflight_describe_simple_copy(&track->inflight, copy, info);
    return done;
}
