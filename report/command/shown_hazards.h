/* Prepares hazard lines of a report to be shown, as words and frames (shown.h). */
#ifndef SC_REPORT_COMMAND_SHOWN_HAZARDS_H
#define SC_REPORT_COMMAND_SHOWN_HAZARDS_H

#include "report/command/model.h"
#include "report/command/shown.h"

/* Prepares the hazard of `record`, which sc_finding_read has made, with its stacks. All is in the
 * scratch or in the record. */
struct sc_shown sc_shown_hazards_make(struct sc_scratch *scratch,
                                      const struct sc_frame_makers *makers, json_t *record);

/* Returns the title: "SC101 source-freed-in-flight: free at a.c:3 in f, ...". */
const char *sc_shown_hazards_title(struct sc_scratch *scratch, const struct sc_shown *hazard);

/* Returns what to do about a hazard of this code. */
const char *sc_shown_hazards_advice(const char *code);

/* Adds what only a person needs: title, count, outcome, advice, timing, and the words of calls. */
void sc_shown_hazards_describe(struct sc_scratch *scratch, struct sc_shown *hazard);

#endif
