/* Which operations are guarded where only a share of the time may go into guards (guard_budget).
 *
 * Time that passes is earned at the rate of the share, and what guards took is paid of it (a token
 * bucket). What is left over is kept up to what a second earns, and debts up to what ten do. The
 * first SC_BUDGET_FIRST operations of each call site are guarded whatever that takes. Then an
 * operation is guarded if there is time left and it is its site's turn: a site that has been
 * guarded in this round waits for those that have asked in vain, but no longer than a quarter of a
 * second. A site that has asked in vain for longer than that is guarded on credit. A site that has
 * asked in vain lets every second chance pass, by lot, so that all operations that alternate at one
 * site are guarded in turn.
 *
 * Sites beyond SC_BUDGET_SITES share one entry. The time is the caller's, in ticks of any length.
 * Plain data, static or zeroed. Locks: one of its own, a leaf, but for sc_budget_charge, which is
 * lock-free; thread safe, and signal safe where sc_own_lock_depth is 0.
 */
#ifndef SC_TRACK_BUDGET_H
#define SC_TRACK_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"

enum { SC_BUDGET_FIRST = 32, SC_BUDGET_SITES = 1024, SC_BUDGET_WHOLE = 10000 };

struct sc_budget_site {
    uint64_t key;      /* 0: nobody's */
    uint32_t stack;    /* 0: not known */
    uint32_t round;    /* in which it was guarded last */
    uint32_t waits_in; /* the round in which it asks in vain */
    uint64_t vain_since;
    uint64_t operations, guarded;
};

struct sc_budget {
    struct sc_brief_lock lock;
    _Atomic uint64_t unpaid; /* ticks that guards took, and that are not in `left` yet */
    uint32_t share;          /* of SC_BUDGET_WHOLE */
    int64_t left;            /* ticks times SC_BUDGET_WHOLE */
    int64_t burst, debt;     /* the most and the least of these */
    uint64_t patience;       /* ticks */
    uint64_t now;            /* until when was earned */
    uint32_t round, waiting; /* sites that ask in vain in this round */
    uint64_t round_began;
    uint64_t lot;
    struct sc_budget_site sites[SC_BUDGET_SITES], others;
};

/* `share` of SC_BUDGET_WHOLE of the time, at least 1. */
void sc_budget_start(struct sc_budget *budget, uint32_t share, uint64_t ticks_per_second,
                     uint64_t now);

/* Is the next operation of the site to be guarded? Counts it. The key is not 0. */
bool sc_budget_allows(struct sc_budget *budget, uint64_t key, uint32_t stack, uint64_t now);

/* Guards took so long. */
static inline void sc_budget_charge(struct sc_budget *budget, uint64_t ticks)
{
    atomic_fetch_add_explicit(&budget->unpaid, ticks, memory_order_relaxed);
}

/* What is known of a site, without a lock; another thread may be counting. The sites that have
 * operations come with those first of which most were left out: `sites` gets up to `room` of them,
 * and `totals` all together. The number of sites that it got. */
unsigned sc_budget_look(const struct sc_budget *budget, struct sc_budget_site *totals,
                        struct sc_budget_site *sites, unsigned room);

#endif
