/* Turns the `postmortem` line of a run (what was in flight when a context was lost) into notes:
 * words with stacks. */
#ifndef SC_REPORT_COMMAND_SHOWN_POSTMORTEMS_H
#define SC_REPORT_COMMAND_SHOWN_POSTMORTEMS_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"

#include <jansson.h>

/* Called with the words and the stack of each note. The stack should be an array of a report but
 * may be anything. */
typedef void sc_shown_postmortems_add(void *context, const char *words, json_t *stack);

/* Calls `add` for each note, in their order. The first says what was lost, and which call showed
 * it. */
void sc_shown_postmortems_make(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                               const json_t *postmortem, sc_shown_postmortems_add *add,
                               void *context);

#endif
