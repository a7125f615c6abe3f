#include "track/source_costs.h"

#include <stdatomic.h>

#include "common/poison.h"

enum {
    PAGE_SHIFT = 12,
    LATEST_PAGES = 512, /* averages are over the latest pages: from half as many to so many */
    TRIED_AGAIN = 32,   /* one of so many sources is kept in the more expensive way */
    TRIED_LEAST = 4096, /* one of so many, after snapshots have been more expensive for long */
    TRIED_IN_A_ROW = 4,
    FEW_PAGES = 32,     /* the weight that old measurements get, in pages */
    TIMES_AS_LONG = 2,  /* a page counts at most so many times the average, as a call may have been
                           interrupted */
    GUARDED_FIRST = 64, /* so many sources are guarded before snapshots are considered */
    UNIT = 16,
};

static struct cost {
    _Atomic uint64_t ticks, pages;
    _Atomic uint32_t times;
} costs[SC_SOURCE_KEEPINGS] = {0};

static _Atomic bool is_warm = true; /* what snapshots cost now is noted */

static uint64_t read_number(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static void set_number(_Atomic uint64_t *number, uint64_t to)
{
    atomic_store_explicit(number, to, memory_order_relaxed);
}

static uint64_t pages_in(size_t size_bytes)
{
    return (size_bytes + (1U << PAGE_SHIFT) - 1) >> PAGE_SHIFT;
}

/* Counts the source's pages. Beyond LATEST_PAGES all sums are halved, so that later pages count
 * more. */
static void count_source(struct cost *cost, size_t size_bytes)
{
    uint64_t pages = read_number(&cost->pages) + pages_in(size_bytes);
    bool is_full = pages > LATEST_PAGES;
    if (is_full)
        set_number(&cost->ticks, read_number(&cost->ticks) / 2);
    set_number(&cost->pages, is_full ? pages / 2 : pages);
    atomic_fetch_add_explicit(&cost->times, 1, memory_order_relaxed);
}

static void add_ticks(struct cost *cost, size_t size_bytes, uint64_t ticks)
{
    uint64_t before = read_number(&cost->ticks), pages = read_number(&cost->pages) + 1;
    uint64_t most = TIMES_AS_LONG * (before / pages + 1) * pages_in(size_bytes);
    set_number(&cost->ticks, before + (before && ticks > most ? most : ticks));
}

void sc_source_costs_note(enum sc_source_keeping by, size_t size_bytes, uint64_t ticks,
                          bool is_another)
{
    if (size_bytes < SC_SOURCE_COSTS_MIN_BYTES ||
        (by == SC_SOURCE_BY_SNAPSHOT && !atomic_load_explicit(&is_warm, memory_order_relaxed)))
        return;
    if (is_another)
        count_source(&costs[by], size_bytes);
    if (ticks)
        add_ticks(&costs[by], size_bytes, ticks);
}

/* The average cost of a page, in parts of a tick (UNIT of them are one); 0: not known yet. */
static uint64_t cost_of(enum sc_source_keeping by)
{
    uint64_t pages = read_number(&costs[by].pages);
    return pages ? read_number(&costs[by].ticks) * UNIT / pages : 0;
}

/* Is a snapshot cheaper than the guard? With many threads the guard also interrupts the processors
 * of the others, which is not measured: so it counts twice. */
static bool is_cheaper(enum sc_source_keeping guard, bool for_many)
{
    uint64_t snapshot = cost_of(SC_SOURCE_BY_SNAPSHOT), guarded = cost_of(guard);
    return for_many ? snapshot < 2 * guarded || !snapshot
                    : snapshot && snapshot + snapshot / 2 < guarded;
}

/* Gives what was measured so far the weight of FEW_PAGES pages, so that new measurements count. */
static void age_cost(struct cost *cost)
{
    uint64_t pages = read_number(&cost->pages);
    if (pages <= FEW_PAGES)
        return;
    set_number(&cost->ticks, read_number(&cost->ticks) * FEW_PAGES / pages);
    set_number(&cost->pages, FEW_PAGES);
}

/* Is this one of the snapshots that are tried in a row, at the end of each `every` answers? The
 * first half of a row is not measured: their data is not in the caches, as it would be if all
 * sources had snapshots. */
static bool is_try(unsigned before, unsigned every)
{
    unsigned left = every - before % every;
    if (left == TRIED_IN_A_ROW)
        age_cost(&costs[SC_SOURCE_BY_SNAPSHOT]);
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
        return before % TRIED_AGAIN != TRIED_AGAIN - 1; /* the last one measures the guard */
    }
    unsigned every = atomic_load_explicit(&gap, memory_order_relaxed);
    bool tries = is_try(before, every);
    if (tries && before % every == every - 1 && every < TRIED_LEAST)
        atomic_store_explicit(&gap, every * 2, memory_order_relaxed);
    return tries;
}
