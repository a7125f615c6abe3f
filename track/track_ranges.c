/* The tracker's ranges, and what other modules read of them (track/track_views.h). */
#include "track/track_ranges.h"
#include "track/track_internal.h"
#include "track/track_views.h"

#include "common/poison.h"

void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context, uint32_t origin)
{
    lock(track);
    uint32_t id = sc_inflight_add_range(&track->inflight, address, size_bytes, kind, context);
    if (id)
        atomic_store_explicit(&sc_inflight_range(&track->inflight, id)->origin, origin,
                              memory_order_release);
    unlock(track);
}

static inline __attribute__((always_inline)) struct sc_range_info
describe_range(struct sc_track *track, uint32_t id)
{
    struct sc_range_info info = {0};
    if (!id)
        return info;
    struct sc_range *range = sc_inflight_range(&track->inflight, id);
    info.range = id;
    info.address = atomic_load_explicit(&range->node.address, memory_order_acquire);
    info.size_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_acquire);
    info.kind = atomic_load_explicit(&range->kind, memory_order_acquire);
    info.context = atomic_load_explicit(&range->context, memory_order_acquire);
    info.guarding = (enum sc_guarding)atomic_load_explicit(&range->guarding, memory_order_acquire);
    info.snapshots =
        (enum sc_snapshots)atomic_load_explicit(&range->snapshots, memory_order_acquire);
    info.origin = atomic_load_explicit(&range->origin, memory_order_acquire);
    return info;
}

/* The range that the thread found last, with the version of the ranges then: programs copy from the
 * same memory again and again. It is valid as long as no range came or went. It is one word, since
 * a signal handler may come in between. */
static __thread _Atomic uint64_t last_range __attribute__((tls_model("initial-exec")));

static uint64_t version_of_ranges(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.range_grid.version, memory_order_acquire) << 32;
}

static __attribute__((noinline)) void look_for_range(struct sc_track *track, uintptr_t address,
                                                     struct sc_range_info *info)
{
    uint64_t version = version_of_ranges(track);
    uint32_t id = sc_inflight_range_of(&track->inflight, address);
    if (id == SC_GRID_RETRY) {
        lock(track);
        *info = describe_range(track, sc_grid_point_locked(&track->inflight.range_grid, address));
        unlock(track);
        return;
    }
    if (track == &sc_track && id)
        atomic_store_explicit(&last_range, version | id, memory_order_relaxed);
    *info = describe_range(track, id);
}

const struct sc_range *sc_track_last_range(struct sc_track *track, uintptr_t address,
                                           size_t size_bytes, uint32_t *id)
{
    uint64_t known = atomic_load_explicit(&last_range, memory_order_relaxed);
    *id = (uint32_t)known;
    if (track != &sc_track || !*id || known - *id != version_of_ranges(track))
        return NULL;
    const struct sc_range *range = sc_inflight_range(&track->inflight, *id);
    uintptr_t start = atomic_load_explicit(&range->node.address, memory_order_relaxed);
    size_t range_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_relaxed);
    return address - start < range_bytes && size_bytes <= range_bytes - (address - start) ? range
                                                                                          : NULL;
}

struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address)
{
    struct sc_range_info info;
    uint32_t id;
    if (sc_track_last_range(track, address, 1, &id))
        info = describe_range(track, id);
    else
        look_for_range(track, address, &info);
    return info;
}

/* Most device memory is known by its block to be in no range. */
bool sc_track_may_be_host(struct sc_track *track, uintptr_t address)
{
    struct sc_inflight *inflight = &track->inflight;
    if (atomic_load_explicit(&inflight->managed_count, memory_order_relaxed) != 0)
        return true;
    if (!sc_blocks_may_hold_one(&inflight->range_blocks, address))
        return false;
    uint32_t id = sc_inflight_range_of(inflight, address);
    if (id != SC_GRID_RETRY)
        return id != 0;
    lock(track);
    id = sc_grid_point_locked(&inflight->range_grid, address);
    unlock(track);
    return id != 0;
}

bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction,
                           uint32_t stream)
{
    struct sc_inflight *inflight = &track->inflight;
    bool writes = sc_direction_writes_host(direction);
    return sc_inflight_may_conflict(inflight->nowhere, writes, stream) ||
           (range && sc_inflight_may_conflict(sc_inflight_range(inflight, range), writes, stream));
}

struct sc_range_info sc_track_range_again(struct sc_track *track, uint32_t range)
{
    return describe_range(track, range);
}

/* May sources of other pinned memory lie on a page of the range? */
static bool has_sources_beside(struct sc_inflight *inflight, uint32_t range)
{
    return atomic_load_explicit(&inflight->neighbour_source_count, memory_order_relaxed) != 0 &&
           sc_inflight_is_neighbour(inflight, sc_inflight_range(inflight, range));
}

bool sc_track_may_seal(struct sc_track *track, uint32_t range, enum sc_buffer_kind kind)
{
    struct sc_inflight *inflight = &track->inflight;
    return !range || kind != SC_PINNED || sc_inflight_has_sources(inflight, range) ||
           sc_inflight_has_sources(inflight, inflight->no_range) ||
           has_sources_beside(inflight, range);
}

/* ---- what other modules read ---- */

uint64_t sc_track_ranges_version(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.range_grid.version, memory_order_acquire);
}

bool sc_track_is_guarding_forbidden(struct sc_track *track, uintptr_t address)
{
    uint32_t id = sc_grid_point(&track->inflight.range_grid, address);
    return id != 0 && id != SC_GRID_RETRY &&
           atomic_load_explicit(&sc_inflight_range(&track->inflight, id)->guarding,
                                memory_order_acquire) == SC_GUARDING_FORBIDDEN;
}

bool sc_track_is_plainly_readable(struct sc_track *track, uint32_t range)
{
    return atomic_load_explicit(&sc_inflight_range(&track->inflight, range)->snapshots,
                                memory_order_acquire) == SC_SNAPSHOTS_PLAIN;
}
