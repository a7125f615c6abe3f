#include "interpose/guard/block_areas.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/guard/protect.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/map_waits.h"
#include "interpose/memory/userfaults.h"
#include "report/options.h"

#include "track/poison.h"

enum { PART_MAX_BYTES = 512 << 10 };

static _Atomic uint8_t attempts[SC_AREAS_COUNT];

static uintptr_t area_of(uintptr_t address)
{
    return address - (address - sc_areas.start) % SC_AREAS_BYTES;
}

/* An area may be busy for long: the first, the second, the fourth time and so on. */
static bool is_worth_an_attempt(uintptr_t area)
{
    unsigned i = (unsigned)((area - sc_areas.start) / SC_AREAS_BYTES);
    unsigned before = atomic_fetch_add_explicit(&attempts[i], 1, memory_order_relaxed) & UINT8_MAX;
    return (before & (before + 1)) == 0;
}

static void choose_for(uintptr_t area)
{
    if (!sc_userfaults_have_adopted(area, 1) && is_worth_an_attempt(area) && sc_userfaults_begin())
        sc_protect_move(area, sc_userfaults_adopt_huge);
}

static bool is_wanted(void)
{
    return sc_options.guard == SC_GUARD_UFFD || sc_map_waits_are_long();
}

void sc_block_areas_choose(const struct sc_pages *pages)
{
    const uintptr_t shared_bytes = (uintptr_t)SC_AREAS_SHARED * SC_AREAS_BYTES;
    if (sc_likely(!sc_areas_have(pages->start)) || pages->start - sc_areas.start < shared_bytes ||
        pages->end - pages->start > PART_MAX_BYTES || !is_wanted())
        return;
    choose_for(area_of(pages->start));
    if (area_of(pages->end - 1) != area_of(pages->start))
        choose_for(area_of(pages->end - 1));
}
