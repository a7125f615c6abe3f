/* Draws, for HTML, how much memory a place (a device or the host) held over time. */
#ifndef SC_REPORT_COMMAND_FORMATS_MEMORY_CHART_H
#define SC_REPORT_COMMAND_FORMATS_MEMORY_CHART_H

#include "report/command/memory_history.h"
#include "report/command/scratch.h"
#include "report/command/shown_memory.h"

#include <stddef.h>
#include <stdio.h>

/* Draws the `count` moments, which are in the order of time; draws nothing if nothing changes
 * between them. `id`: unique in the page. */
void sc_memory_chart_draw(FILE *out, struct sc_scratch *scratch,
                          const struct sc_memory_place *place,
                          const struct sc_memory_moment *moments, size_t count, const char *id);

#endif
