#include "interpose/losses/losses.h"

#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/mappings.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/deallocation.h"
#include "track/guarded.h"
#include "track/hold_kind.h"
#include "track/track.h"
#include "track/track_front.h"
#include "track/track_holds.h"
#include "track/track_parts.h"
#include "track/track_views.h"

#include "common/poison.h"

/* The end of the address space, unless a program requests more by a hint. */
#if defined(__x86_64__)
static const uintptr_t ADDRESSES_END = (uintptr_t)1 << 47;
#else
static const uintptr_t ADDRESSES_END = (uintptr_t)1 << 48;
#endif

size_t sc_losses_whole_pages(size_t size_bytes)
{
    size_t mask = *sc_track_parts.page_mask;
    return size_bytes + mask < size_bytes ? size_bytes : (size_bytes + mask) & ~mask;
}

bool sc_losses_are_pages(const void *address, size_t size_bytes)
{
    uintptr_t start = (uintptr_t)address;
    return (start & *sc_track_parts.page_mask) == 0 && start < ADDRESSES_END &&
           size_bytes <= ADDRESSES_END - start;
}

bool sc_losses_may_matter(const void *address, size_t size_bytes)
{
    return sc_unlikely(sc_track_watches_libc(&sc_track)) && sc_active() && !sc_is_inside() &&
           !sc_library_lock_depth &&
           sc_track_may_have(&sc_track, SC_NEAR_HEAP, (uintptr_t)address, size_bytes);
}

/* May the interval have registered or pinned memory? False where hooks only pass calls on. */
static bool may_be_of_range(const void *address, size_t size_bytes)
{
    return sc_active() && !sc_is_inside() && !sc_library_lock_depth && size_bytes != 0 &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, (uintptr_t)address, size_bytes);
}

bool sc_losses_may_be_of_ours(const void *address, size_t size_bytes)
{
    return sc_losses_may_matter(address, size_bytes) || may_be_of_range(address, size_bytes);
}

/* Reports and waits for what is in flight in memory that is about to lose its contents. */
void sc_losses_report_and_wait(const void *address, size_t size_bytes,
                               bool (*hurts)(const struct sc_op_info *op),
                               const struct sc_culprit *culprit)
{
    SC_DEALLOCATION request = {
        .address = (uintptr_t)address,
        .size_bytes = size_bytes,
        .hold = true,
        .kind = SC_HOLD_WAIT,
        .hurts = hurts,
        .stays = hurts,
        .settles = !hurts,
    };
    sc_deallocation_handle(&request, SC104, culprit);
}

/* Limits how pinned memory there may be read for snapshots. True: some may lie there. */
bool sc_losses_limit_snapshots(const void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    bool may_be = may_be_of_range(address, size_bytes);
    if (may_be)
        SC_TRACKED(
            sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, size_bytes, snapshots));
    return may_be;
}

void sc_losses_forbid_guarding(const void *address, size_t size_bytes)
{
    SC_TRACKED(
        sc_guarded_set(track.inflight, (uintptr_t)address, size_bytes, SC_GUARDING_FORBIDDEN));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Ends the guarding of pages that are about to be lost or replaced, and limits how they are
 * compared. */
void sc_losses_stop_watching(const void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    bool may_be_of_range = sc_losses_limit_snapshots(address, size_bytes, snapshots);
    sc_mappings_forget((uintptr_t)address, size_bytes);
    if (may_be_of_range || sc_guard_has(address, size_bytes))
        sc_losses_forbid_guarding(address, size_bytes);
}

bool sc_losses_settle(const void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    bool matters = size_bytes && sc_losses_may_matter(address, size_bytes);
    if (matters)
        sc_losses_report_and_wait(address, size_bytes, NULL, culprit);
    sc_losses_stop_watching(address, size_bytes, SC_SNAPSHOTS_NONE);
    return matters;
}
