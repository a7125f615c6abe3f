/* Shows the runs of several ranks side by side: what their reports say, said once for all ranks of
 * which it is true. */
#ifndef SC_REPORT_COMMAND_SHOWN_RANKS_H
#define SC_REPORT_COMMAND_SHOWN_RANKS_H

#include "report/command/model.h"

#include <stdio.h>

/* Prints those of model->ranks, which are several. */
void sc_shown_ranks_print(FILE *out, struct sc_model *model);

#endif
