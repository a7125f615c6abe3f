/* Draws a flame graph for HTML: which functions called which to allocate memory. Wider bars have
 * more memory, and callers are above. */
#ifndef SC_REPORT_COMMAND_FORMATS_FLAME_GRAPH_H
#define SC_REPORT_COMMAND_FORMATS_FLAME_GRAPH_H

#include "report/command/memory_tree.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stdio.h>

/* Draws the tree by its bytes at the end, or at the peak; nothing if it has no bytes. `id`: unique
 * in the page. */
void sc_flame_graph_draw(FILE *out, struct sc_scratch *scratch, const struct sc_memory_tree *tree,
                         bool at_the_peak, const char *title, const char *id);

#endif
