#include "interpose/guard/added_areas.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/base/compiler.h"
#include "interpose/base/process.h"
#include "interpose/guard/door.h"
#include "interpose/guard/map_budget.h"
#include "interpose/guard/map_waits.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/userfaults.h"
#include "interpose/memory/areas.h"
#include "interpose/memory/huge_pages.h"
#include "report/mechanism.h"
#include "report/options.h"

#include "common/poison.h"

enum {
    PART_MAX_BYTES = 512 << 10,
    TRIES_BITS = 12,
    FORCED = 63, /* an area in which something is always guarded is changed after so many tries */
};

/* How often an area was to be changed in vain; areas may share a count. */
static _Atomic uint32_t tries[1 << TRIES_BITS];

static bool ask_mechanism(void)
{
    return sc_mechanism_of((enum sc_guard_mode)sc_options.guard) == SC_MECHANISM_USERFAULTFD;
}

static bool is_wanted(void)
{
    static _Atomic int chosen;
    return (sc_map_waits_are_long() || sc_options.guard == SC_GUARD_UFFD) &&
           sc_huge_pages_remember(&chosen, ask_mechanism);
}

bool sc_added_areas_may_want(const struct sc_pages *pages)
{
    return sc_unlikely(is_wanted()) && !sc_areas_have(pages->start) &&
           pages->end - pages->start <= PART_MAX_BYTES;
}

/* Returns the pages that both have; `end` is not above `start` if there are none. */
static struct sc_pages common_pages(const struct sc_pages *a, const struct sc_pages *b)
{
    return (struct sc_pages){a->start > b->start ? a->start : b->start,
                             a->end < b->end ? a->end : b->end};
}

/* Changes the pages of an area to userfaultfd, if it serves their memory. `tried`: how often that
 * was tried in vain. */
static bool change(const struct sc_pages *own, uint32_t tried)
{
    return sc_userfaults_may_adopt_shared(own->start) && sc_map_budget_allows() &&
           sc_guard_serves_areas() &&
           sc_protect_move_area(own, tried >= FORCED, sc_userfaults_adopt_shared);
}

/* Tries to change the pages. After failures in the area, only the first, second, fourth, eighth,
 * ... try is made. */
static void try_to_change(const struct sc_pages *own)
{
    uint64_t number = own->start / SC_AREAS_BYTES;
    _Atomic uint32_t *count = &tries[number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TRIES_BITS)];
    uint32_t tried = atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    if ((tried & (tried + 1)) == 0 && change(own, tried))
        atomic_store_explicit(count, 0, memory_order_relaxed);
}

void sc_added_areas_choose(const struct sc_pages *own, const struct sc_pages *pages)
{
    struct sc_pages wanted = common_pages(pages, own);
    while (wanted.start < wanted.end) {
        uintptr_t start = wanted.start & ~(uintptr_t)(SC_AREAS_BYTES - 1);
        struct sc_pages area = {start, start + SC_AREAS_BYTES};
        struct sc_pages all = common_pages(own, &area), now = common_pages(&wanted, &area);
        if (!sc_userfaults_have_adopted(now.start, now.end - now.start))
            try_to_change(&all);
        wanted.start = area.end;
    }
}
