/* Limits the share of the program's time that guarding (protecting the pages that copies in flight
 * use) may take (option guard_budget, track/budget.h).
 *
 * Without the option each function costs one load: every operation is guarded, and no clock is
 * read. Thread-safe. Locks: the budget's, a leaf. sc_guard_budget_begin and _end are signal-safe.
 */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_INTERPOSE_GUARD_GUARD_BUDGET_H
#define SC_INTERPOSE_GUARD_GUARD_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "track/budget.h"

/* The budget; NULL: the option is not set. Set once, before the first operation. */
extern struct sc_budget *sc_guard_budget __attribute__((visibility("hidden")));

/* Creates the budget if the option is set. Called after sc_ticks_start. */
void sc_guard_budget_start(void);

/* Counts an operation of this call site and returns whether it is to be guarded. `stack`: the
 * call's stack id; 0: unknown, and `site` (the return address) identifies the call site. Pre: the
 * option is set. */
bool sc_guard_budget_allows(uint32_t stack, const void *site);

/* Begin and end a section of code whose time counts as taken by guarding, as that of an mprotect.
 * Two loads if there is no budget. */
static inline uint64_t sc_guard_budget_begin(void)
{
    return sc_unlikely(sc_guard_budget) ? sc_ticks() : 0;
}

static inline void sc_guard_budget_end(uint64_t begun_ticks)
{
    if (sc_unlikely(sc_guard_budget))
        sc_budget_charge(sc_guard_budget, sc_ticks() - begun_ticks);
}

#endif
