/* Writes messages for a strict run in which nothing was watched, which must not be mistaken for a
 * clean run. */
#ifndef SC_REPORT_COMMAND_RUN_UNJUDGED_H
#define SC_REPORT_COMMAND_RUN_UNJUDGED_H

#include "report/command/run_roll.h"
#include "report/command/run_work.h"

/* Writes that nothing was judged; why, as far as `program` and the roll show; and what the user can
 * do. */
void sc_run_unjudged_say(struct sc_run_work *work, const struct sc_run_roll *roll,
                         const char *program);

/* Writes which processes would have used the driver had it not been for mode=off, unless the user
 * has turned the library off for all processes. */
void sc_run_unjudged_say_off(struct sc_run_work *work, const struct sc_run_roll *roll);

#endif
