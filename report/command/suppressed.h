/* Applies a file of suppressions (docs/suppressions.md) to the hazards of reports: they are shown
 * as suppressed. */
#ifndef SC_REPORT_COMMAND_SUPPRESSED_H
#define SC_REPORT_COMMAND_SUPPRESSED_H

#include "report/command/model.h"

struct sc_suppressed;

/* Reads the file. Returns NULL if it, or one of its entries, is wrong, after a message on stderr:
 * then no entry is applied. */
struct sc_suppressed *sc_suppressed_read(const char *path);
void sc_suppressed_free(struct sc_suppressed *suppressed);

/* Writes to stderr which entries have expired. */
void sc_suppressed_tell_expired(const struct sc_suppressed *suppressed);

/* Returns the reason of the first valid entry that covers the hazard; NULL: none does. All hazards
 * must be of one model, with its scratch. */
const char *sc_suppressed_reason(struct sc_suppressed *suppressed, struct sc_scratch *scratch,
                                 const struct sc_shown *hazard);

#endif
