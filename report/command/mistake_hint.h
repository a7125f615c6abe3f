/* A sketch, as a patch has it, of what would mend a hazard, where the source says enough. */
#ifndef SC_REPORT_COMMAND_MISTAKE_HINT_H
#define SC_REPORT_COMMAND_MISTAKE_HINT_H

#include "report/command/mistake.h"

/* Makes the lines of mistake->hint out of its sides; none where the kind of the hazard, or what is
 * known of its source, allows no sketch. */
void sc_mistake_hint_make(struct sc_mistake *mistake, struct sc_scratch *scratch,
                          const struct sc_shown *hazard);

#endif
