/* Limits how many mappings the guard, which protects pages that copies in flight use, causes, so
 * that the program keeps some.
 *
 * A page that is protected apart from its neighbours costs up to two of the mappings that Linux
 * allows a process (vm.max_map_count, 65,530 by default). A process that has used them up cannot
 * map memory any more. So once there are more than FREE_SPANS spans (track/spans.h), the process's
 * mappings are counted now and then, and a quarter of the maximum is left to the program.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   neighbour: memory beside the copied bytes, on a page of the span
 *   span: a run of pages that one operation wants protected
 */

#ifndef SC_INTERPOSE_GUARD_MAP_BUDGET_H
#define SC_INTERPOSE_GUARD_MAP_BUDGET_H

#include <stdbool.h>

/* May the guard protect another span? Two loads while there are few spans; with thousands of them,
 * some milliseconds once a second. */
bool sc_map_budget_allows(void);

/* Has the process nearly used up its mappings? Counts all mappings. */
bool sc_map_budget_is_spent(void);

#endif
