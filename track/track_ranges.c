/* The tracker's ranges, and what other modules read of them (track/track_views.h). */
#include "track/track_ranges.h"
#include "track/track_internal.h"
#include "track/track_views.h"

#include "common/poison.h"

/* Ranges may reach further now: publishes the bounds of all, which free() reads first, without the
 * lock. */
static void publish_bounds(struct sc_track *track) SC_REQUIRES(*track)
{
    SC_ASSERT_HELD(&track->lock);
    const struct sc_blocks *blocks = &track->inflight.range_blocks;
    atomic_store_explicit(&track->front.ranges_highest,
                          atomic_load_explicit(&blocks->highest, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&track->front.ranges_not_lowest,
                          atomic_load_explicit(&blocks->not_lowest, memory_order_relaxed),
                          memory_order_relaxed);
}

/* The driver knows this host memory from now on: an allocation or a registration. */
void sc_track_add_range(struct sc_track *track, uintptr_t address, size_t size_bytes,
                        enum sc_buffer_kind kind, uint32_t context, uint32_t origin)
{
    lock(track);
    uint32_t id = sc_inflight_add_range(&track->inflight, address, size_bytes, kind, context);
    if (id)
        atomic_store_explicit(&sc_inflight_range(&track->inflight, id)->origin, origin,
                              memory_order_release);
    publish_bounds(track);
    unlock(track);
}

/* Reads the range (host memory known to the driver) with this id, without the lock. It may have
 * been removed: then it has no bytes. */
inline __attribute__((always_inline)) struct sc_range_info
sc_track_reread_range(struct sc_track *track, uint32_t id)
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

/* Programs copy from the same memory again and again: a thread remembers ranges (host memory that
 * the driver knows), as long as none came or went. Each is one word, since a signal handler may
 * come in between. Memory of one kind often lies at the same place of blocks of 2 MB that follow
 * each other, so such blocks have different words. */
enum { RANGES_REMEMBERED = 4, PLACE_SHIFT = 16, BLOCK_SHIFT = 21 };
static __thread _Atomic uint64_t last_ranges[RANGES_REMEMBERED]
    __attribute__((tls_model("initial-exec")));

static inline _Atomic uint64_t *remembered_at(uintptr_t address)
{
    return &last_ranges[((address >> PLACE_SHIFT) + (address >> BLOCK_SHIFT)) % RANGES_REMEMBERED];
}

/* The version of all ranges (host memory known to the driver), in the upper half of a word: it
 * changes when a range comes or goes, and what a thread remembers is old then. */
static uint64_t version_of_ranges(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.range_grid.version, memory_order_acquire) << 32;
}

/* Looks the range (host memory known to the driver) at the address up, and remembers it, with the
 * version of the ranges, for this thread's next look-up. If ranges are being changed, looks under
 * the lock. Tests have trackers of their own, for which nothing is remembered. */
static __attribute__((noinline)) uint32_t look_for_range(struct sc_track *track, uintptr_t address)
{
    uint64_t version = version_of_ranges(track);
    uint32_t id = sc_inflight_range_of(&track->inflight, address);
    if (id == SC_GRID_RETRY) {
        lock(track);
        id = sc_grid_find_at_locked(&track->inflight.range_grid, address);
        unlock(track);
    } else if (track == &sc_track && id) {
        atomic_store_explicit(remembered_at(address), version | id, memory_order_relaxed);
    }
    return id;
}

/* Does the range (host memory known to the driver) contain the interval? Written so that no sum
 * overflows. */
static inline bool covers(const struct sc_range *range, uintptr_t address, size_t size_bytes)
{
    uintptr_t start = atomic_load_explicit(&range->node.address, memory_order_relaxed);
    size_t range_bytes = atomic_load_explicit(&range->node.size_bytes, memory_order_relaxed);
    return address - start < range_bytes && size_bytes <= range_bytes - (address - start);
}

/* Returns the range (host memory known to the driver) that this thread remembers for the address,
 * if no range came or went since and it contains the interval; 0: look it up. */
static inline uint32_t find_remembered(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    uint64_t known = atomic_load_explicit(remembered_at(address), memory_order_relaxed);
    uint32_t id = (uint32_t)known;
    return id && known - id == version_of_ranges(track) && track == &sc_track &&
                   covers(sc_inflight_range(&track->inflight, id), address, size_bytes)
               ? id
               : 0;
}

/* Returns the range (host memory known to the driver) that contains the whole interval. An empty
 * interval is in none. */
uint32_t sc_track_range_of(struct sc_track *track, uintptr_t address, size_t size_bytes)
{
    uint32_t id = find_remembered(track, address, size_bytes);
    if (__builtin_expect(id != 0, 1))
        return size_bytes ? id : 0;
    id = look_for_range(track, address);
    return id && size_bytes && covers(sc_inflight_range(&track->inflight, id), address, size_bytes)
               ? id
               : 0;
}

/* Returns the range (host memory known to the driver) at the address, mostly without a look-up. */
struct sc_range_info sc_track_find_range(struct sc_track *track, uintptr_t address)
{
    uint32_t id = find_remembered(track, address, 1);
    return sc_track_reread_range(track, id ? id : look_for_range(track, address));
}

/* May an address that a call names as device memory be in host memory that the driver knows? Pinned
 * memory has one address for both, and managed memory is both. Most device memory is recognised by
 * its block of addresses, in which no range ever was. */
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
    id = sc_grid_find_at_locked(&inflight->range_grid, address);
    unlock(track);
    return id != 0;
}

/* May an operation of this direction and stream conflict with one in flight in the range (host
 * memory known to the driver), or with one in no range? Told by counts, without the lock. */
bool sc_track_may_conflict(struct sc_track *track, uint32_t range, enum sc_direction direction,
                           uint32_t stream)
{
    struct sc_inflight *inflight = &track->inflight;
    bool writes = sc_direction_writes_host(direction);
    return sc_inflight_may_conflict(inflight->nowhere, writes, stream) ||
           (range && sc_inflight_may_conflict(sc_inflight_range(inflight, range), writes, stream));
}

/* May sources of other pinned memory lie on a page of the range (host memory known to the driver)?
 */
static bool has_sources_beside(struct sc_inflight *inflight, uint32_t range)
{
    return atomic_load_explicit(&inflight->neighbour_source_count, memory_order_relaxed) != 0 &&
           sc_inflight_is_neighbour(inflight, sc_inflight_range(inflight, range));
}

/* The device is about to write the memory: may there be sources in it to be compared before? Also
 * beside it, on a page that it shares with other pinned memory. Memory that is not pinned is always
 * looked at. */
bool sc_track_may_seal(struct sc_track *track, uint32_t range, enum sc_buffer_kind kind)
{
    struct sc_inflight *inflight = &track->inflight;
    return !range || kind != SC_PINNED || sc_inflight_has_sources(inflight, range) ||
           sc_inflight_has_sources(inflight, inflight->no_range) ||
           has_sources_beside(inflight, range);
}

/* ---- what other modules read ---- */

/* A count of changes of the ranges (host memory known to the driver); odd while one is made. A
 * caller that remembers a look-up compares it. */
uint64_t sc_track_ranges_version(struct sc_track *track)
{
    return atomic_load_explicit(&track->inflight.range_grid.version, memory_order_acquire);
}

/* Must pages at the address not be protected? If ranges (host memory known to the driver) are being
 * changed the answer is no, and others decide. */
bool sc_track_is_guarding_forbidden(struct sc_track *track, uintptr_t address)
{
    uint32_t id = sc_grid_find_at(&track->inflight.range_grid, address);
    return id != 0 && id != SC_GRID_RETRY &&
           atomic_load_explicit(&sc_inflight_range(&track->inflight, id)->guarding,
                                memory_order_acquire) == SC_GUARDING_FORBIDDEN;
}

/* May the host read sources in the range (host memory known to the driver) directly, since they can
 * be neither unmapped nor made unreadable? */
bool sc_track_is_plainly_readable(struct sc_track *track, uint32_t range)
{
    return atomic_load_explicit(&sc_inflight_range(&track->inflight, range)->snapshots,
                                memory_order_acquire) == SC_SNAPSHOTS_PLAIN;
}
