/* How many mappings the guard may make.
 *
 * Each page that is protected apart from its neighbours costs the process up to two of the mappings
 * that the kernel allows it (vm.max_map_count, 65,530 by default), and a program that runs out of
 * them cannot map memory any more. So beyond the first spans the mappings of the process are
 * counted now and then, and the guard leaves it a quarter of them.
 *
 * No lock; thread-safe and async-signal-safe; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_MAP_BUDGET_H
#define SC_INTERPOSE_GUARD_MAP_BUDGET_H

#include <stdbool.h>

/* May another span be made? Two loads as long as they are few; some milliseconds once a second
 * where they are thousands. */
bool sc_map_budget_allows(void);

/* Has the process hardly a mapping left? Reads all of them. */
bool sc_map_budget_is_spent(void);

#endif
