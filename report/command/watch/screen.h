/* The table of `safecopy watch`, which is drawn on a terminal again and again, and printed at the
 * end. Words from reports cannot control the terminal. */
#ifndef SC_REPORT_COMMAND_WATCH_SCREEN_H
#define SC_REPORT_COMMAND_WATCH_SCREEN_H

#include "report/command/scratch.h"
#include "report/command/watch/follow.h"

#include <stdio.h>

/* Switch the terminal to its alternate screen, and back; that is also done when the process ends.
 */
void sc_screen_open(void);
void sc_screen_close(void);

/* Draws the reports as a table, cut to the size of the terminal, with `footer` (NULL: none) below.
 */
void sc_screen_paint(const struct sc_follow *follow, const char *footer);

/* Prints the whole table as lines. */
void sc_screen_print(FILE *out, const struct sc_follow *follow);

/* Returns the headline: "2 processes: 1 run, 1 ended; 3 hazards: SC101 2, SC201 1; 1.2 GB held". */
const char *sc_screen_headline(const struct sc_follow *follow, struct sc_scratch *scratch);

/* Returns the state of a report's process: "runs", "status 0", "ended", "died". */
struct sc_watch_report;
const char *sc_screen_end(const struct sc_watch_report *report, struct sc_scratch *scratch);

#endif
