/* Applies a file of suppressions (docs/suppressions.md) to the hazards of reports: they are shown
 * as suppressed. */
#ifndef SC_REPORT_COMMAND_SUPPRESSED_H
#define SC_REPORT_COMMAND_SUPPRESSED_H

#include "report/command/model.h"

struct sc_suppressed;

/* Reads the file. NULL: it, or one of its entries, is wrong, so that none is in force, and stderr
 * was told. */
struct sc_suppressed *sc_suppressed_read(const char *path);
void sc_suppressed_free(struct sc_suppressed *suppressed);

/* Says which entries have had their last day. */
void sc_suppressed_tell_expired(const struct sc_suppressed *suppressed);

/* The reason of the first entry in force that covers the hazard; NULL: none does. The hazards are
 * of one model, with its scratch. */
const char *sc_suppressed_reason(struct sc_suppressed *suppressed, struct sc_scratch *scratch,
                                 const struct sc_shown *hazard);

#endif
