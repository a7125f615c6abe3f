/* Writes the hazards of the HTML page as JSON for its script (page.js): an object for each hazard.
 * Frames and sources that hazards share are written once. */
#ifndef SC_REPORT_COMMAND_FORMATS_PAGE_HAZARDS_H
#define SC_REPORT_COMMAND_FORMATS_PAGE_HAZARDS_H

#include "report/command/model.h"

#include <stdio.h>

/* Writes `"hazards": [...], "frames": {...}, "sources": {...}` of the first `count` hazards. */
void sc_page_hazards_write(FILE *out, struct sc_model *model, size_t count);

#endif
