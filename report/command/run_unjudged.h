/* Messages of a strict run in which nothing was looked at: it must not pass for one that was
 * clean. */
#ifndef SC_REPORT_COMMAND_RUN_UNJUDGED_H
#define SC_REPORT_COMMAND_RUN_UNJUDGED_H

#include "report/command/run_roll.h"
#include "report/command/run_work.h"

/* Says that nothing was judged, why as far as `program` and the roll tell, and what to do. */
void sc_run_unjudged_say(struct sc_run_work *work, const struct sc_run_roll *roll,
                         const char *program);

/* Says which processes would have used the driver but for mode=off, unless the user has turned the
 * library off for all. */
void sc_run_unjudged_say_off(struct sc_run_work *work, const struct sc_run_roll *roll);

#endif
