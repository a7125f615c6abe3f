/* Hazards in words. */
#ifndef SC_REPORT_COMMAND_SHOWN_HAZARDS_H
#define SC_REPORT_COMMAND_SHOWN_HAZARDS_H

#include "report/command/model.h"

/* Makes the hazard of `record`, as sc_finding_read gives it. All is in the scratch or in the
 * record.
 */
struct sc_shown sc_shown_hazards_make(struct sc_scratch *scratch,
                                      const struct sc_frame_makers *makers, json_t *record);

#endif
