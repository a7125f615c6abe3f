/* Shows runs of several ranks together: what their reports say, once for all ranks of which it is
 * true. */
#ifndef SC_REPORT_COMMAND_SHOWN_RANKS_H
#define SC_REPORT_COMMAND_SHOWN_RANKS_H

#include "report/command/model.h"

#include <stdio.h>

/* Prints the runs of model->ranks. Pre: there are several ranks. */
void sc_shown_ranks_print(FILE *out, struct sc_model *model);

#endif
