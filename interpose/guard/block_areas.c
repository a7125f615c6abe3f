#include "interpose/guard/block_areas.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/base/warning.h"
#include "interpose/guard/door.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/user_touches.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"
#include "report/options.h"
#include "report/userfaultfd.h"
#include "track/grid.h"
#include "track/spans.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum {
    PART_MAX_BYTES = 512 << 10, /* for more mprotect is the better mechanism */
    SMALL_MAX_BYTES = 16 << 10, /* H200, 4 KB of a huge page: 2 us, and by mprotect 6 */
    OFTEN = 8,
};

/* For each area: how often a part of it was guarded by mprotect. */
static _Atomic uint32_t times[SC_AREAS_COUNT];
/* For each area: how often it was to be changed to userfaultfd, and nothing was guarded there. */
static _Atomic uint32_t tries[SC_AREAS_COUNT];

/* Warns once that userfaultfd cannot be used and why, if the option guard=uffd asks for it. */
static void say_why_not(void)
{
    static _Atomic bool said;
    enum sc_userfaultfd_state state = sc_userfaults_state();
    if (sc_options.guard == SC_GUARD_UFFD && !atomic_exchange(&said, true))
        sc_warning_say("guard=uffd: there is no userfaultfd, so mprotect keeps pages off: %s. "
                       "Remedy: %s",
                       sc_userfaultfd_words(state), sc_userfaultfd_remedy(state));
}

/* Opens userfaultfd and starts the thread that answers touches, if that has not been done. False:
 * it cannot be used, and mprotect guards all memory. */
bool sc_guard_serves_areas(void)
{
    if (sc_likely(sc_user_touches_begin()))
        return true;
    say_why_not();
    return false;
}

/* Returns the start of the area (2 MB of the library's pinned memory) with the address. */
static uintptr_t area_of(uintptr_t address)
{
    return address - (address - sc_areas.start) % SC_AREAS_BYTES;
}

/* Is userfaultfd better than mprotect for the area in which these pages are to be guarded? Yes with
 * guard=uffd, if threads wait for each other in mprotect, or if the pages are few and the area is
 * used so for the OFTEN-th time (`before`: how often parts of it were guarded): then the change,
 * which splits the huge page, pays. */
static bool is_userfault_better(const struct sc_pages *pages, unsigned before)
{
    return sc_options.guard == SC_GUARD_UFFD || sc_map_waits_are_long() ||
           (pages->end - pages->start <= SMALL_MAX_BYTES && before >= OFTEN - 1);
}

/* Is anything in the area guarded at present? Then its mechanism cannot change. The grid (the index
 * of guarded pages) is asked piece by piece: of a longer interval it says that it may be. */
static bool is_guarded(uintptr_t area)
{
    enum { PIECE_BYTES = 64 << 10 };
    for (uintptr_t at = area; at < area + SC_AREAS_BYTES; at += PIECE_BYTES)
        if (sc_grid_may_overlap(&sc_track_parts.guards->grid, at, PIECE_BYTES))
            return true;
    return false;
}

/* Is the area (the i-th) to be changed to userfaultfd now? Not while something in it is guarded. As
 * a change may fail for ever and costs system calls, only the first, second, fourth, eighth, ...
 * attempt is made; counts this one. */
static bool count_attempt(unsigned i, uintptr_t area)
{
    if (is_guarded(area))
        return false;
    unsigned tried = atomic_fetch_add_explicit(&tries[i], 1, memory_order_relaxed);
    return (tried & (tried + 1)) == 0;
}

/* Counts that pages in the area are to be guarded, and changes the area to userfaultfd if that is
 * better and it is not userfaultfd's already. */
static void choose_for(uintptr_t area, const struct sc_pages *pages)
{
    unsigned i = (unsigned)((area - sc_areas.start) / SC_AREAS_BYTES);
    if (sc_userfaults_have_adopted(area, 1))
        return;
    unsigned before = atomic_fetch_add_explicit(&times[i], 1, memory_order_relaxed);
    if (is_userfault_better(pages, before) && count_attempt(i, area) && sc_user_touches_begin())
        sc_protect_move_area(area, sc_userfaults_adopt_huge);
}

/* Chooses between mprotect and userfaultfd for the areas (2 MB each) of a large pinned allocation
 * in which these pages lie, before they are guarded. Nothing is to be chosen for other memory, for
 * the first areas (small allocations share them: userfaultfd's from the start), and for many pages,
 * which mprotect guards better. */
void sc_block_areas_choose(const struct sc_pages *pages)
{
    const uintptr_t shared_bytes = (uintptr_t)SC_AREAS_SHARED * SC_AREAS_BYTES;
    if (sc_likely(!sc_areas_have(pages->start)) || pages->start - sc_areas.start < shared_bytes ||
        pages->end - pages->start > PART_MAX_BYTES)
        return;
    choose_for(area_of(pages->start), pages);
    if (area_of(pages->end - 1) != area_of(pages->start))
        choose_for(area_of(pages->end - 1), pages);
}
