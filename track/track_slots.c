/* The tracker's part for snapshots: slots of staging memory for what operations are to read. */
#include <errno.h>

#include "track/track_internal.h"

#include "track/poison.h"

/* To look through all streams is dear. */
enum { FORGOTTEN_FOR_SLOT_MAX = 16, LOOK_FOR_KEPT_EVERY = 64 };

/* Snapshots of operations that are complete make room for those of new ones. */
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
    for (unsigned i = 0; i < FORGOTTEN_FOR_SLOT_MAX && !slot; i++) {
        if (!sc_inflight_forget_complete(&track->inflight, source->stream))
            break;
        slot = sc_staging_take(staging, size_bytes);
    }
    publish_watch(track);
    return slot;
}

/* May something that is in flight write the source? Of its range any bytes count, which is quickly
 * seen. What is in flight in no range is other memory mostly. */
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
