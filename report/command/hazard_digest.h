/* What makes hazards of one run equal: the code and the stacks. */
#ifndef SC_REPORT_COMMAND_HAZARD_DIGEST_H
#define SC_REPORT_COMMAND_HAZARD_DIGEST_H

#include "report/command/findings.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>

/* Makes the digest of a line that was parsed last with the pieces of `findings`. Addresses differ
 * between runs, offsets in modules do not, as long as the build is the same: the modules count
 * among those of the run. False: a frame of the stacks is none. */
bool sc_hazard_digest_make(struct sc_findings *findings, const json_t *hazard,
                           struct sc_digest *digest);

#endif
