/* Makes a sketch, as lines of a patch, of a change that would repair a hazard, if the source shows
 * enough. */
#ifndef SC_REPORT_COMMAND_MISTAKE_HINT_H
#define SC_REPORT_COMMAND_MISTAKE_HINT_H

#include "report/command/mistake.h"

/* Stores the lines in mistake->hint, from its two sides; none if the kind of the hazard, or what is
 * known of its source, allows no sketch. */
void sc_mistake_hint_make(struct sc_mistake *mistake, struct sc_scratch *scratch,
                          const struct sc_shown *hazard);

#endif
