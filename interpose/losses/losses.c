#include "interpose/losses/losses.h"

#include "common/hazard_words.h"
#include "common/library_lock.h"
#include "common/pages.h"
#include "interpose/base/compiler.h"
#include "interpose/base/mappings.h"
#include "interpose/guard/door.h"
#include "interpose/reaper/deallocation.h"
#include "track/graph_frees.h"
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

/* Rounds a size up to whole pages, as Linux does before it unmaps. A size that would overflow
 * stays: Linux refuses it. */
size_t sc_losses_whole_pages(size_t size_bytes)
{
    size_t mask = *sc_track_parts.page_mask;
    return size_bytes + mask < size_bytes ? size_bytes : (size_bytes + mask) & ~mask;
}

/* May Linux do what the call asks: does the interval start on a page, and end within the address
 * space? If not, Linux refuses the call, and nothing is lost. */
bool sc_losses_are_pages(const void *address, size_t size_bytes)
{
    uintptr_t start = (uintptr_t)address;
    return (start & *sc_track_parts.page_mask) == 0 && start < ADDRESSES_END &&
           size_bytes <= ADDRESSES_END - start;
}

/* Can a loss of this interval matter: may memory there be in flight, held after a free, or named by
 * a graph? The first load is the quick answer. A thread within a lock of the library must not wait
 * for the reaper, so no there. */
bool sc_losses_may_matter(const void *address, size_t size_bytes)
{
    return sc_unlikely(sc_track_watches_libc(&sc_track)) && sc_active() && !sc_is_inside() &&
           !sc_library_lock_depth &&
           sc_track_may_have(&sc_track, SC_NEAR_HEAP, (uintptr_t)address, size_bytes);
}

/* May the interval have registered or pinned memory? Not asked in a process or a call in which
 * hooks only pass calls on, or within a lock of the library. */
static bool may_be_of_range(const void *address, size_t size_bytes)
{
    return sc_active() && !sc_is_inside() && !sc_library_lock_depth && size_bytes != 0 &&
           sc_track_may_have(&sc_track, SC_NEAR_RANGES, (uintptr_t)address, size_bytes);
}

/* May the interval have memory that matters to the library at all: in flight, held, named by a
 * graph, or registered? */
bool sc_losses_may_be_of_ours(const void *address, size_t size_bytes)
{
    return sc_losses_may_matter(address, size_bytes) || may_be_of_range(address, size_bytes);
}

/* Reports what is in flight in memory that is about to lose its contents (SC104), and in mode=fix
 * waits for it, and for what is held there after a free. With `hurts` only the operations that it
 * selects count, as for mprotect: the memory stays the program's, so they stay tracked, and held
 * memory is not waited for. */
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

/* Limits how registered memory there may be read for snapshots (copies that the device reads
 * instead), since its pages will be others than those that the driver reads. True: some may lie
 * there. */
bool sc_losses_limit_snapshots(const void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    bool may_be = may_be_of_range(address, size_bytes);
    if (may_be)
        SC_TRACKED(
            sc_guarded_limit_snapshots(track.inflight, (uintptr_t)address, size_bytes, snapshots));
    return may_be;
}

/* Ends the protection of pages there for good, and unprotects them now: a later change of their
 * protection would be one of the program's new pages. */
void sc_losses_forbid_guarding(const void *address, size_t size_bytes)
{
    SC_TRACKED(
        sc_guarded_set(track.inflight, (uintptr_t)address, size_bytes, SC_GUARDING_FORBIDDEN));
    sc_guard_apply(SC_GUARD_ALL);
}

/* Called before pages are lost or replaced: limits how they are read, ends their protection, and
 * forgets what is known of their mapping. If neither a range nor a protected page can lie there,
 * the protection is not touched. */
void sc_losses_stop_watching(const void *address, size_t size_bytes, enum sc_snapshots snapshots)
{
    bool may_be_of_range = sc_losses_limit_snapshots(address, size_bytes, snapshots);
    sc_mappings_forget((uintptr_t)address, size_bytes);
    if (may_be_of_range || sc_guard_has(address, size_bytes))
        sc_losses_forbid_guarding(address, size_bytes);
}

/* Does all that a hook has to do before memory goes: reports, waits, and stops watching it. Returns
 * whether anything there may have mattered. */
bool sc_losses_settle(const void *address, size_t size_bytes, const struct sc_culprit *culprit)
{
    bool matters = size_bytes && sc_losses_may_matter(address, size_bytes);
    if (matters)
        sc_losses_report_and_wait(address, size_bytes, NULL, culprit);
    sc_losses_stop_watching(address, size_bytes, SC_SNAPSHOTS_NONE);
    return matters;
}

/* The program maps memory there: nodes of graphs are valid again that were lost with an munmap. */
void sc_losses_note_mapped(const void *address, size_t size_bytes)
{
    SC_TRACKED(sc_graphs_note_again(track.graphs, (uintptr_t)address, size_bytes, false));
}
