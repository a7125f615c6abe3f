#include "interpose/guard/guard_budget.h"

#include "common/ticks.h"
#include "interpose/base/process.h"

#include "common/poison.h"

enum { SECOND_NS = 1000 * 1000 * 1000 };

struct sc_budget *sc_guard_budget;

/* Starts to limit the share of time that guarding may take, if the option guard_budget asks for
 * that; else sc_guard_budget stays NULL, and nothing is counted. */
void sc_guard_budget_start(void)
{
    static struct sc_budget budget;
    if (!sc_options.guard || !sc_options.guard_budget)
        return;
    sc_budget_start(&budget, (uint32_t)sc_options.guard_budget, sc_ticks_in_ns(SECOND_NS),
                    sc_ticks());
    sc_guard_budget = &budget;
}

/* Counts an operation of a call site, and returns whether it is to be guarded, or its site is left
 * out at present. A call site is its stack (`stack`, an id), or the address to which the call
 * returns (`site`) if the stack is not known. */
bool sc_guard_budget_allows(uint32_t stack, const void *site)
{
    return sc_budget_allows(sc_guard_budget, stack ? stack : (uintptr_t)site, stack, sc_ticks());
}
