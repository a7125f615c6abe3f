/* How many mappings the guard may make.
 *
 * A page that is protected apart from its neighbours costs the process up to two of the mappings
 * that the kernel allows (vm.max_map_count, 65,530 by default). A program that has used them up
 * cannot map memory any more. So beyond the first spans the process's mappings are counted now and
 * then, and the guard leaves a quarter of them to the program.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_MAP_BUDGET_H
#define SC_INTERPOSE_GUARD_MAP_BUDGET_H

#include <stdbool.h>

/* May another span be made? Two loads as long as spans are few; some milliseconds once a second
 * where there are thousands. */
bool sc_map_budget_allows(void);

/* Has the process hardly a mapping left? Counts all mappings. */
bool sc_map_budget_is_spent(void);

#endif
