/* Judges all processes of a run together, as strict=1 asks for.
 *
 * A process in which there was a hazard ends with `exitcode`, but a process that started it may
 * ignore that: a launcher that kills its workers, a shell that goes on. The reports tell it all the
 * same. What they do not tell is unknown, and never clean. */
#ifndef SC_REPORT_COMMAND_VERDICT_H
#define SC_REPORT_COMMAND_VERDICT_H

#include "report/command/run_roll.h"
#include "report/command/scratch.h"

#include <stdbool.h>

enum sc_certainty;

struct sc_verdict {
    /* One of the reports has a hazard of the certainty that was asked for, or of a stronger one,
     * that is not suppressed. Nothing else is known then. */
    bool fails;

    /* Why there may have been one all the same, or NULL: "FILE: why". That is so where a line
     * cannot be read, where a run did not end normally and its process does not live on, and where
     * a process has noted a report that is not there, or that it could not write one. The words are
     * the scratch's. */
    const char *doubt;

    /* Calls of at least one process came through the library, as its report or its notes say. */
    bool is_judged;
};

/* `paths` ends with a NULL. */
struct sc_verdict sc_verdict_find(char *const *paths, enum sc_certainty certainty,
                                  const struct sc_run_roll *roll, struct sc_scratch *scratch);

#endif
