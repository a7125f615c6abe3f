/* Writes the member `limits` of the summary line: calls that set limits of contexts, launches that
 * fixed the size of the device's malloc heap, and modules that call malloc (ledger/limit_events.h).
 */

/* Terms (docs/glossary.md):
 *   ledger: which memory the process has, and which call stack asked for it
 */

#ifndef SC_REPORT_LIMITS_PART_H
#define SC_REPORT_LIMITS_PART_H

#include "ledger/limit_events.h"
#include "report/json_lines.h"

struct sc_text;

/* What the member `limits` is written from: the events (settings of a context's limits, and
 * launches that fixed one), with the names in their stacks looked up. */
struct sc_limits_part {
    const struct sc_limit_events *limits;
    struct sc_json_lines_stack stacks[SC_LIMIT_EVENTS];
    struct sc_json_lines_stack module_stacks[SC_LIMIT_MODULES];
};

/* Looks up the names in the stacks of the events; to be called before the report's lock is taken.
 * Locks: takes the loader's lock. */
void sc_limits_part_name(const struct sc_limit_events *limits, struct sc_limits_part *part);

/* Writes the member `limits` of a summary line. Outer frames are left out, so that it takes at
 * most half of the line's room. */
void sc_limits_part_put(struct sc_text *line, const struct sc_limits_part *part);

#endif
