/* Decides which operations are guarded (their pages protected against early accesses) if only a
 * share of the time may be spent on that (option guard_budget).
 *
 * The budget is a token bucket. Time is earned at the rate of the share as time passes, and the
 * time that guarding took is subtracted. At most one second's earnings are saved, and at most ten
 * seconds' are owed. The first SC_BUDGET_FIRST operations of each call site are guarded in any
 * case. After these, an operation is guarded if there is time left and it is its site's turn:
 *
 * - Sites take turns in rounds. A site that was guarded in this round waits for the sites that were
 *   refused in it, but at most a quarter of a second.
 * - A site that has been refused for longer than that is guarded on credit.
 * - A site that was refused gives up every second chance, at random. So operations that alternate
 *   at one site are all guarded at some time.
 *
 * Sites beyond SC_BUDGET_SITES share one entry. Times are the caller's, in ticks of any length. The
 * struct is static or zeroed. Locks: its own, a leaf. sc_budget_charge is lock-free. Thread-safe;
 * signal-safe while sc_library_lock_depth is 0. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 *   ticks: a time of the processor's counter
 */

#ifndef SC_TRACK_BUDGET_H
#define SC_TRACK_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/brief_lock.h"

enum { SC_BUDGET_FIRST = 32, SC_BUDGET_SITES = 1024, SC_BUDGET_WHOLE = 10000 };

struct sc_budget_site {
    uint64_t key;   /* 0: the entry is free */
    uint32_t stack; /* 0: not known */
    /* the round (in which each call site has a turn) in which it was guarded last */
    uint32_t round;
    /* the last round in which an operation of it was not guarded for want of time or turn */
    uint32_t refused_in;
    uint64_t refused_since; /* since when no operation of it was guarded; 0: the last one was */
    uint64_t operations, guarded;
};

struct sc_budget {
    struct sc_brief_lock lock;
    _Atomic uint64_t unpaid;       /* ticks spent on guarding that `left` does not count yet */
    uint32_t share;                /* the share of the time, in parts of SC_BUDGET_WHOLE */
    int64_t left;                  /* ticks times SC_BUDGET_WHOLE */
    int64_t burst, debt;           /* the most and the least that `left` may be */
    uint64_t refused_max_ticks;    /* for how many ticks a site may be refused */
    uint64_t now;                  /* the time until which `left` was earned */
    uint32_t round, refused_sites; /* the present round, and how many sites were refused in it */
    uint64_t round_began;
    uint64_t random_state; /* the state of a random generator */
    struct sc_budget_site sites[SC_BUDGET_SITES], others;
};

/* Initialises the budget. `share`: the share of the time in parts of SC_BUDGET_WHOLE, at least 1.
 */
void sc_budget_start(struct sc_budget *budget, uint32_t share, uint64_t ticks_per_second,
                     uint64_t now);

/* Counts an operation of this call site and returns whether it is to be guarded. `key`: identifies
 * the call site, not 0. `stack`: the call's stack id, for the summary. */
bool sc_budget_allows(struct sc_budget *budget, uint64_t key, uint32_t stack, uint64_t now);

/* Subtracts from the budget the time that protecting and unprotecting pages has taken. */
static inline void sc_budget_charge(struct sc_budget *budget, uint64_t ticks)
{
    atomic_fetch_add_explicit(&budget->unpaid, ticks, memory_order_relaxed);
}

/* Reads the counts of all sites without the lock; another thread may be counting. Stores in `sites`
 * up to `room` of the sites that have operations, those with most unguarded operations first, and
 * in `totals` the sums. Returns how many sites were stored. */
unsigned sc_budget_read(const struct sc_budget *budget, struct sc_budget_site *totals,
                        struct sc_budget_site *sites, unsigned room);

#endif
