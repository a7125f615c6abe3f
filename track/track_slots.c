/* The tracker's functions for snapshots: they take slots of staging memory for sources that
 * operations are to read. */
#include <errno.h>

#include "track/blocks.h"
#include "track/comparisons.h"
#include "track/conflicts_internal.h"
#include "track/staging.h"
#include "track/track_internal.h"
#include "track/track_ops.h"
#include "track/track_uploads.h"

#include "common/poison.h"

/* LOOK_FOR_KEPT_EVERY: streams' kept slots are called in only every so many times, since that walks
 * all streams. */
enum { FORGOTTEN_FOR_SLOT_MAX = 16, LOOK_FOR_KEPT_EVERY = 64 };

/* Takes a slot. If none is left, and no block may be added, snapshots of complete operations make
 * room for those of new ones. */
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
        sc_staging_give_all_kept(&track->order);
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

/* May an operation in flight write the source? On its range, any operation that writes counts,
 * which is quickly seen. Operations on no range are mostly on other memory, so their bytes are
 * compared. */
static bool is_written(struct sc_track *track, const struct sc_slot_source *source)
{
    struct sc_inflight *inflight = &track->inflight;
    return (source->range &&
            atomic_load_explicit(&sc_inflight_range(inflight, source->range)->writer_count,
                                 memory_order_relaxed) != 0) ||
           sc_inflight_is_written(inflight, source->range, source->shape);
}

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

/* ---- uploads ---- */

/* Does nothing in flight write the range, so that nothing conflicts with a read of it? */
static bool is_still(struct sc_inflight *inflight, const struct sc_range *range)
{
    return !(atomic_load_explicit(&range->writer_count, memory_order_relaxed) |
             atomic_load_explicit(&inflight->nowhere->writer_count, memory_order_relaxed));
}

bool sc_track_begin_upload(struct sc_track *track, struct sc_staging *staging,
                           struct sc_upload *upload)
{
    struct sc_inflight *inflight = &track->inflight;
    const struct sc_range *range =
        sc_track_last_range(track, upload->source, upload->size_bytes, &upload->range);
    if (!range || atomic_load_explicit(&range->kind, memory_order_relaxed) != SC_PINNED ||
        atomic_load_explicit(&range->snapshots, memory_order_acquire) != SC_SNAPSHOTS_PLAIN ||
        !is_still(inflight, range) ||
        atomic_load_explicit(&inflight->managed_count, memory_order_relaxed) != 0 ||
        sc_blocks_may_hold_one(&inflight->range_blocks, upload->target))
        return false;
    upload->slot = sc_staging_take_kept(staging, upload->stream, upload->size_bytes);
    return upload->slot;
}

/* Issues the upload like any other operation: something writes its source, or an equal operation
 * was not issued as an upload. */
static __attribute__((noinline)) void
issue_as_any_operation(struct sc_track *track, const struct sc_upload *upload,
                       struct sc_ticket *ticket, struct sc_issued *issued) SC_REQUIRES(*track)
{
    struct sc_op_info info;
    sc_inflight_describe_upload(&track->inflight, upload, &info);
    info.ticket = *ticket;
    sc_conflicts_find(&track->inflight, &info, /*awaited*/ false, &issued->conflicts);
    if (!sc_inflight_add(&track->inflight, &info, &issued->overwritten))
        sc_staging_keep(upload->slot, ticket);
    sc_staging_refill(upload->slot, upload->stream);
}

static __attribute__((noinline)) void compare_equal_upload(struct sc_track *track,
                                                           const struct sc_upload *upload)
{
    struct sc_op_info info;
    sc_inflight_describe_upload(&track->inflight, upload, &info);
    sc_track_compare_equal(track, &info);
}

uint64_t sc_track_issue_upload(struct sc_track *track, const struct sc_upload *upload,
                               struct sc_issued *issued)
{
    struct sc_ticket ticket = {.stream = upload->stream};
    if (upload->size_bytes >= SC_COMPARISONS_MIN_BYTES)
        compare_equal_upload(track, upload);
    lock(track);
    atomic_store_explicit(&track->operations,
                          atomic_load_explicit(&track->operations, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    sc_order_renew(&track->order, &ticket);
    if (!is_still(&track->inflight, sc_inflight_range(&track->inflight, upload->range)) ||
        !sc_inflight_upload(&track->inflight, upload, &ticket, &issued->overwritten))
        issue_as_any_operation(track, upload, &ticket, issued);
    unlock(track);
    return ticket.number;
}
