/* Writes the member `guard` of the summary line: how often pages were protected, by which
 * mechanism, and, with guard_budget, how many operations of each call site were guarded. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   operation: one asynchronous use of memory by the device: a copy, a memset, a part of a launch
 *   site: the address to which a hook or wrapper returns: the program's call
 */

#ifndef SC_REPORT_GUARD_PART_H
#define SC_REPORT_GUARD_PART_H

#include "report/json_lines.h"
#include "track/budget.h"

struct sc_options;
struct sc_report_guard;
struct sc_text;

/* Call sites with their named stacks, those with most unguarded operations first. */
enum { SC_GUARD_PART_SITES_MAX = 64 };
struct sc_guard_part_sites {
    struct sc_budget_site totals, sites[SC_GUARD_PART_SITES_MAX];
    unsigned count;
    struct sc_json_lines_stack stacks[SC_GUARD_PART_SITES_MAX];
};

/* Copies the call sites of copies from `budget`, with how many of their operations had their pages
 * protected, and looks up the names in their stacks. To be called before the report's lock is
 * taken. Locks: takes the loader's lock. */
void sc_guard_part_name_sites(const struct sc_budget *budget, struct sc_guard_part_sites *sites);

/* Writes the member `guard` of a summary line. `sites` NULL: the option guard_budget, which limits
 * how much time protecting pages may take, is off. */
void sc_guard_part_put(struct sc_text *line, const struct sc_options *options,
                       const struct sc_report_guard *guard,
                       const struct sc_guard_part_sites *sites);

#endif
