/* Writes what the HTML page says of all hazards together, and of the runs, as JSON for its script
 * (page.js). */
#ifndef SC_REPORT_COMMAND_FORMATS_PAGE_OVERVIEW_H
#define SC_REPORT_COMMAND_FORMATS_PAGE_OVERVIEW_H

#include "report/command/model.h"

#include <stdio.h>

/* Writes `"headline": ..., "codes": [...], "runs": [...], "baseline": {...}`. `shown`: how many
 * places with hazards are in the page. */
void sc_page_overview_write(FILE *out, struct sc_model *model, size_t shown);

#endif
