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
    PART_MAX_BYTES = 512 << 10,
    SMALL_MAX_BYTES = 16 << 10, /* H200, 4 KB of a huge page: 2 us, and by mprotect 6 */
    OFTEN = 8,
};

/* For each area: how often a part of it was guarded by mprotect. */
static _Atomic uint32_t times[SC_AREAS_COUNT];
/* For each area: how often it was to be changed to userfaultfd, and nothing was guarded there. */
static _Atomic uint32_t tries[SC_AREAS_COUNT];

/* Warns once, if guard=uffd was set, that userfaultfd cannot be used. */
static void say_why_not(void)
{
    static _Atomic bool said;
    enum sc_userfaultfd_state state = sc_userfaults_state();
    if (sc_options.guard == SC_GUARD_UFFD && !atomic_exchange(&said, true))
        sc_warning_say("guard=uffd: there is no userfaultfd, so mprotect keeps pages off: %s. "
                       "Remedy: %s",
                       sc_userfaultfd_words(state), sc_userfaultfd_remedy(state));
}

/* Opens userfaultfd and starts its reader if that has not been done. False: it cannot be used. */
bool sc_guard_serves_areas(void)
{
    if (sc_likely(sc_user_touches_begin()))
        return true;
    say_why_not();
    return false;
}

static uintptr_t area_of(uintptr_t address)
{
    return address - (address - sc_areas.start) % SC_AREAS_BYTES;
}

/* Is userfaultfd better for the area? Yes with guard=uffd, if threads wait for each other in
 * mprotect, or if the pages are few and parts of the area are guarded for the OFTEN-th time.
 * `before`: how often parts of it were guarded before. */
static bool is_wanted(const struct sc_pages *pages, unsigned before)
{
    return sc_options.guard == SC_GUARD_UFFD || sc_map_waits_are_long() ||
           (pages->end - pages->start <= SMALL_MAX_BYTES && before >= OFTEN - 1);
}

/* Is anything in the area guarded? The grid is searched piece by piece, since it gives no answer
 * for a longer interval. */
static bool is_guarded(uintptr_t area)
{
    enum { PIECE_BYTES = 64 << 10 };
    for (uintptr_t at = area; at < area + SC_AREAS_BYTES; at += PIECE_BYTES)
        if (sc_grid_may_overlap(&sc_track_parts.guards->grid, at, PIECE_BYTES))
            return true;
    return false;
}

/* May the area be changed to userfaultfd now? Not while something in it is guarded. After a
 * failure, only the first, second, fourth, eighth, ... attempt is made. */
static bool begin_attempt(unsigned i, uintptr_t area)
{
    if (is_guarded(area))
        return false;
    unsigned tried = atomic_fetch_add_explicit(&tries[i], 1, memory_order_relaxed);
    return (tried & (tried + 1)) == 0;
}

/* Counts a guard in the area, and changes the area to userfaultfd if that is better. */
static void choose_for(uintptr_t area, const struct sc_pages *pages)
{
    unsigned i = (unsigned)((area - sc_areas.start) / SC_AREAS_BYTES);
    if (sc_userfaults_have_adopted(area, 1))
        return;
    unsigned before = atomic_fetch_add_explicit(&times[i], 1, memory_order_relaxed);
    if (is_wanted(pages, before) && begin_attempt(i, area) && sc_user_touches_begin())
        sc_protect_move_area(area, sc_userfaults_adopt_huge);
}

/* Chooses for a block's areas by which mechanism they will be guarded. The first areas are shared
 * by small allocations, and are userfaultfd's from the start (sc_userfaults_serve). */
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
