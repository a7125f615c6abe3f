/* A picture of a hazard for HTML: the calls on the host and the copy in flight, along time. */
#ifndef SC_REPORT_COMMAND_FORMATS_MOMENT_H
#define SC_REPORT_COMMAND_FORMATS_MOMENT_H

#include "report/command/model.h"

#include <stdio.h>

/* Writes an <svg> element. It is to scale where it is known when the copy ran. */
void sc_moment_draw(FILE *out, struct sc_scratch *scratch, const struct sc_shown *hazard);

#endif
