/* Writes suppressions for the hazards of a report (docs/suppressions.md), which the user has to
 * complete with reasons. */
#ifndef SC_REPORT_COMMAND_SUGGEST_H
#define SC_REPORT_COMMAND_SUGGEST_H

#include "report/command/model.h"

#include <stdio.h>

/* Writes an entry for each hazard that is shown. */
void sc_suggest_suppressions(FILE *out, struct sc_model *model);

#endif
