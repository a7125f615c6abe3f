/* What `safecopy report` prints. */
#ifndef SC_REPORT_COMMAND_RENDER_H
#define SC_REPORT_COMMAND_RENDER_H

#include "report/command/reader.h"
#include "report/command/symbols.h"

/* Text for people: the runs, then the hazards, those observed and those frequent first. */
void sc_render_text(const struct sc_reader *reader, struct sc_symbols *symbols);

/* {"runs":[...],"hazards":[...]}, the hazards as in a report, counted over all runs. */
void sc_render_json(const struct sc_reader *reader, struct sc_symbols *symbols);

#endif
