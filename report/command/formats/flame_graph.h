/* Who called whom to get memory, for HTML: the widest have most, and callers stand above. */
#ifndef SC_REPORT_COMMAND_FORMATS_FLAME_GRAPH_H
#define SC_REPORT_COMMAND_FORMATS_FLAME_GRAPH_H

#include "report/command/memory_tree.h"
#include "report/command/scratch.h"

#include <stdbool.h>
#include <stdio.h>

/* Draws the tree by its bytes, or by those at the peak; nothing where there are none. `id` is the
 * page's alone. */
void sc_flame_graph_draw(FILE *out, struct sc_scratch *scratch, const struct sc_memory_tree *tree,
                         bool at_the_peak, const char *title, const char *id);

#endif
