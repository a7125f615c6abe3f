/* What strict=1 says of all processes of a run together.
 *
 * A process in which there was a hazard ends with `exitcode`, but who started it may pay no heed to
 * that: a launcher that kills its workers, a shell that goes on. The reports say it all the same.
 */
#ifndef SC_REPORT_COMMAND_VERDICT_H
#define SC_REPORT_COMMAND_VERDICT_H

#include "track/hazard.h"

#include <stdbool.h>

/* Whether one of the reports (`paths` ends with a NULL) has a hazard of this certainty, or of a
 * stronger one, that is not suppressed. What cannot be read has none. */
bool sc_verdict_is_failure(char *const *paths, enum sc_certainty certainty);

#endif
