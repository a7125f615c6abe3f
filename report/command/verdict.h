/* What strict=1 says of all processes of a run together.
 *
 * A process in which there was a hazard ends with `exitcode`, but who started it may pay no heed to
 * that: a launcher that kills its workers, a shell that goes on. The reports say it all the same.
 */
#ifndef SC_REPORT_COMMAND_VERDICT_H
#define SC_REPORT_COMMAND_VERDICT_H

#include "track/hazard.h"

enum sc_verdict {
    SC_VERDICT_CLEAN,
    SC_VERDICT_UNREAD, /* what could not be read may tell of a hazard */
    SC_VERDICT_HAZARD,
};

/* Whether one of the reports (`paths` ends with a NULL) has a hazard of this certainty, or of a
 * stronger one, that is not suppressed. A process that was killed, or has still to end, leaves a
 * report that ends early, in which nothing is unread for that. */
enum sc_verdict sc_verdict_find(char *const *paths, enum sc_certainty certainty);

#endif
