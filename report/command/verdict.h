/* Judges all processes of a run together, as strict=1 asks for.
 *
 * A process in which there was a hazard ends with `exitcode`, but the process that started it may
 * ignore that, as a launcher that kills its workers or a shell that goes on. The reports still say
 * it. What they do not say is unknown, and never counts as clean. */
#ifndef SC_REPORT_COMMAND_VERDICT_H
#define SC_REPORT_COMMAND_VERDICT_H

#include "report/command/run_roll.h"
#include "report/command/scratch.h"

#include <stdbool.h>

enum sc_certainty;

struct sc_verdict {
    /* At least one report has a hazard of the requested certainty, or of a stronger one, that is
     * not suppressed. The other members are not set then. */
    bool fails;

    /* "FILE: why": the first reason why there may have been such a hazard although no report has
     * one; NULL: there was certainly none. Reasons are a line that cannot be read, a run that did
     * not end normally although its process has ended, and a report that a process has noted but
     * that is missing or could not be written. The words are in the scratch. */
    const char *doubt;

    /* Calls of at least one process came through the library, as its report or its notes say. */
    bool is_judged;
};

/* Judges the run of the reports at `paths` (up to a NULL). */
struct sc_verdict sc_verdict_find(char *const *paths, enum sc_certainty certainty,
                                  const struct sc_run_roll *roll, struct sc_scratch *scratch);

#endif
