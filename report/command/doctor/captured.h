/* Runs a program of the command's own for a limited time, and keeps its output. */
#ifndef SC_REPORT_COMMAND_DOCTOR_CAPTURED_H
#define SC_REPORT_COMMAND_DOCTOR_CAPTURED_H

#include "report/command/scratch.h"

#include <stdbool.h>

struct sc_captured {
    const char *output, *errors; /* stdout and stderr, 64 KB of each at most; in the scratch */
    bool is_late;                /* it was killed when its time was over */
    int wait_status;             /* as wait(2) has it; -1: it was not started */
};

/* Runs the program at `path` for at most `limit_ms`, with an empty stdin, and keeps what it writes.
 * `environment` and `argv` end with a NULL. Pre: this is the only thread. */
void sc_captured_run(struct sc_captured *captured, struct sc_scratch *scratch, const char *path,
                     char *const *argv, char *const *environment, int limit_ms);

#endif
