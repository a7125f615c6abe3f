#include "track/source_costs.h"

#include <stdatomic.h>

#include "common/poison.h"

enum {
    PAGE_SHIFT = 12,
    LATEST_PAGES = 512, /* at least half as many count */
    TRIED_AGAIN = 32,   /* of so many sources one is kept the dearer way; */
    TRIED_LEAST = 4096, /* of so many, where snapshots have been dearer for long */
    TRIED_IN_A_ROW = 4,
    FEW_PAGES = 32,
    TIMES_AS_LONG = 2, /* one call that was interrupted says no more than this */
    GUARDED_FIRST = 64,
    UNIT = 16,
};

static struct cost {
    _Atomic uint64_t ticks, pages;
    _Atomic uint32_t times;
} costs[SC_SOURCE_KEEPINGS] = {0};

static _Atomic bool is_warm = true; /* what snapshots take now counts */

static uint64_t of(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void set(_Atomic uint64_t *number, uint64_t to)
{
    atomic_store_explicit(number, to, memory_order_relaxed);
}

static uint64_t pages_in(size_t size_bytes)
{
    return (size_bytes + (1U << PAGE_SHIFT) - 1) >> PAGE_SHIFT;
}

static void count(struct cost *cost, size_t size_bytes)
{
    uint64_t pages = of(&cost->pages) + pages_in(size_bytes);
    bool is_full = pages > LATEST_PAGES;
    if (is_full)
        set(&cost->ticks, of(&cost->ticks) / 2);
    set(&cost->pages, is_full ? pages / 2 : pages);
    atomic_fetch_add_explicit(&cost->times, 1, memory_order_relaxed);
}

static void add(struct cost *cost, size_t size_bytes, uint64_t ticks)
{
    uint64_t before = of(&cost->ticks), pages = of(&cost->pages) + 1;
    uint64_t most = TIMES_AS_LONG * (before / pages + 1) * pages_in(size_bytes);
    set(&cost->ticks, before + (before && ticks > most ? most : ticks));
}

void sc_source_costs_note(enum sc_source_keeping by, size_t size_bytes, uint64_t ticks,
                          bool is_another)
{
    if (size_bytes < SC_SOURCE_COSTS_MIN_BYTES ||
        (by == SC_SOURCE_BY_SNAPSHOT && !atomic_load_explicit(&is_warm, memory_order_relaxed)))
        return;
    if (is_another)
        count(&costs[by], size_bytes);
    if (ticks)
        add(&costs[by], size_bytes, ticks);
}

/* The cost of a page, in UNITs of a tick; 0: it is not known yet. */
static uint64_t cost_of(enum sc_source_keeping by)
{
    uint64_t pages = of(&costs[by].pages);
    return pages ? of(&costs[by].ticks) * UNIT / pages : 0;
}

/* A guard interrupts the processors of the other threads, too, who do not measure that. */
static bool is_cheaper(enum sc_source_keeping guard, bool for_many)
{
    uint64_t snapshot = cost_of(SC_SOURCE_BY_SNAPSHOT), guarded = cost_of(guard);
    return for_many ? snapshot < 2 * guarded || !snapshot
                    : snapshot && snapshot + snapshot / 2 < guarded;
}

/* What was measured long ago counts as much as what comes now. */
static void age(struct cost *cost)
{
    uint64_t pages = of(&cost->pages);
    if (pages <= FEW_PAGES)
        return;
    set(&cost->ticks, of(&cost->ticks) * FEW_PAGES / pages);
    set(&cost->pages, FEW_PAGES);
}

/* Some are tried in a row. The first ones find nothing of theirs in the caches, as the others would
 * not if all had snapshots, and do not count. */
static bool is_try(unsigned before, unsigned every)
{
    unsigned left = every - before % every;
    if (left == TRIED_IN_A_ROW)
        age(&costs[SC_SOURCE_BY_SNAPSHOT]);
    if (left <= TRIED_IN_A_ROW)
        atomic_store_explicit(&is_warm, left <= TRIED_IN_A_ROW / 2, memory_order_relaxed);
    return left <= TRIED_IN_A_ROW;
}

bool sc_source_costs_prefer_snapshots(enum sc_source_keeping guard, bool for_many)
{
    static _Atomic unsigned asked, gap = TRIED_AGAIN;
    if (!for_many &&
        atomic_load_explicit(&costs[guard].times, memory_order_relaxed) < GUARDED_FIRST)
        return false;
    unsigned before = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    if (is_cheaper(guard, for_many)) {
        atomic_store_explicit(&gap, TRIED_AGAIN, memory_order_relaxed);
        atomic_store_explicit(&is_warm, true, memory_order_relaxed);
        return before % TRIED_AGAIN != TRIED_AGAIN - 1;
    }
    unsigned every = atomic_load_explicit(&gap, memory_order_relaxed);
    bool tries = is_try(before, every);
    if (tries && before % every == every - 1 && every < TRIED_LEAST)
        atomic_store_explicit(&gap, every * 2, memory_order_relaxed);
    return tries;
}
