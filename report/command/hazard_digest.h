/* Digests of hazards within one run: hazards with the same code and the same stacks have the same
 * digest, and count as equal. */
#ifndef SC_REPORT_COMMAND_HAZARD_DIGEST_H
#define SC_REPORT_COMMAND_HAZARD_DIGEST_H

#include "report/command/findings.h"
#include "report/command/table.h"

#include <jansson.h>
#include <stdbool.h>

/* Makes the digest of the hazard line that was last parsed with the pieces of `findings`. Frames
 * count by module and offset, since addresses differ between runs. Returns false if a frame is
 * malformed. */
bool sc_hazard_digest_make(struct sc_findings *findings, const json_t *hazard,
                           struct sc_digest *digest);

#endif
