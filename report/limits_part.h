/* The member `limits` of the summary's line: calls that set limits of contexts, launches that fixed
 * one, and modules that call malloc (ledger/limit_events.h). */
#ifndef SC_REPORT_LIMITS_PART_H
#define SC_REPORT_LIMITS_PART_H

#include <stddef.h>

#include "ledger/limit_events.h"
#include "report/json_lines.h"

struct sc_text;

/* With the stacks named. */
struct sc_limits_part {
    const struct sc_limit_events *limits;
    struct sc_json_lines_stack stacks[SC_LIMIT_EVENTS];
    struct sc_json_lines_stack module_stacks[SC_LIMIT_MODULES];
};

/* Locks: takes the loader's lock. */
void sc_limits_part_name(const struct sc_limit_events *limits, struct sc_limits_part *part);

/* The member. It takes a half of the room at most: outer frames are left out. */
void sc_limits_part_put(struct sc_text *line, const struct sc_limits_part *part);

#endif
