/* Suppressions for what a report has found (docs/suppressions.md), to be read and given reasons. */
#ifndef SC_REPORT_COMMAND_SUGGEST_H
#define SC_REPORT_COMMAND_SUGGEST_H

#include "report/command/reader.h"
#include "report/command/symbols.h"

#include <stdio.h>

/* Writes an entry for each hazard, those observed and those frequent first. */
void sc_suggest_suppressions(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols);

#endif
