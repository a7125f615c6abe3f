#include "track/source_costs.h"

#include "track/poison.h"

enum {
    PAGE_SHIFT = 12,
    WEIGHT = 8,        /* of what was measured before, against the newest */
    TRIED_AGAIN = 32,  /* of so many sources one is kept the dearer way */
    TIMES_AS_LONG = 4, /* one call that was interrupted says no more than this */
};

_Atomic uint32_t sc_source_costs[SC_SOURCE_COSTS];

static uint32_t cost_of(enum sc_source_cost cost)
{
    return atomic_load_explicit(&sc_source_costs[cost], memory_order_relaxed);
}

void sc_source_costs_note(enum sc_source_cost cost, size_t size_bytes, uint64_t ticks)
{
    uint64_t now = ticks / ((size_bytes >> PAGE_SHIFT) + 1) + 1;
    uint64_t before = cost_of(cost);
    if (before && now > TIMES_AS_LONG * before)
        now = TIMES_AS_LONG * before;
    if (before)
        now = (before * (WEIGHT - 1) + now) / WEIGHT + 1;
    atomic_store_explicit(&sc_source_costs[cost], now < UINT32_MAX ? (uint32_t)now : UINT32_MAX,
                          memory_order_relaxed);
}

bool sc_source_costs_prefer_snapshots(void)
{
    static _Atomic unsigned asked;
    uint64_t snapshot = (uint64_t)cost_of(SC_SOURCE_COPIED) + cost_of(SC_SOURCE_COMPARED);
    uint64_t guard = (uint64_t)cost_of(SC_SOURCE_PROTECTED) + cost_of(SC_SOURCE_UNPROTECTED);
    bool is_other = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed) % TRIED_AGAIN == 0;
    return (snapshot < guard) != is_other;
}
