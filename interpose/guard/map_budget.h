/* Limits how many mappings the guard makes, so that some are left to the program.
 *
 * A page that is protected apart from its neighbours costs up to two of the mappings that the
 * kernel allows a process (vm.max_map_count, 65,530 by default). A process that has used them up
 * cannot map memory any more. So once the guard has more than FREE_SPANS spans the process's
 * mappings are counted now and then, and a quarter of them is left to the program.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_MAP_BUDGET_H
#define SC_INTERPOSE_GUARD_MAP_BUDGET_H

#include <stdbool.h>

/* May the guard protect another span? Two loads while spans are few; if there are thousands, some
 * milliseconds once a second. */
bool sc_map_budget_allows(void);

/* Has the process hardly a mapping left? Counts all mappings. */
bool sc_map_budget_is_spent(void);

#endif
