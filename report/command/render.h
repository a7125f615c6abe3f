/* What `safecopy report` prints. Nothing that a report contains steers the terminal or begins a
 * line of its own. */
#ifndef SC_REPORT_COMMAND_RENDER_H
#define SC_REPORT_COMMAND_RENDER_H

#include "report/command/reader.h"
#include "report/command/symbols.h"

#include <stdio.h>

/* Text for people: the runs, then the hazards, those observed and those frequent first. */
void sc_render_text(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols);

/* {"runs":[...],"hazards":[...]}: hazards as in a report, with counts over all runs. */
void sc_render_json(FILE *out, const struct sc_reader *reader, struct sc_symbols *symbols);

/* The best name for a frame: from the file that ran, else from the report. The name is not yet fit
 * for a terminal (say.h). The caller frees the name. NULL if there is none. */
char *sc_render_name(const json_t *frame, struct sc_symbols *symbols);

#endif
