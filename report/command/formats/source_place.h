/* Finds the line of source to show for a hazard, for services that show a repository (GitHub,
 * SARIF). */
#ifndef SC_REPORT_COMMAND_FORMATS_SOURCE_PLACE_H
#define SC_REPORT_COMMAND_FORMATS_SOURCE_PLACE_H

#include "report/command/model.h"

/* Returns the frame whose line is shown for the hazard: the user's frame of the call that came too
 * early, else of the call that made the copy. NULL: neither has a line. */
const struct sc_frame *sc_source_place_of(const struct sc_shown *hazard);

/* Returns the path of the frame's file: relative if it is below the workspace ($GITHUB_WORKSPACE,
 * else the folder that the command runs in), else absolute. */
const char *sc_source_place_path(struct sc_scratch *scratch, const struct sc_frame *frame);

#endif
