/* Turns the `postmortem` line of a run into words: notes with their stacks. */
#ifndef SC_REPORT_COMMAND_SHOWN_POSTMORTEMS_H
#define SC_REPORT_COMMAND_SHOWN_POSTMORTEMS_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"

#include <jansson.h>

/* Is called with each note's words and its stack, which should be an array of a report but may be
 * anything. */
typedef void sc_shown_postmortems_add(void *context, const char *words, json_t *stack);

/* Gives the notes in their order. The first says what was lost and how that was learnt. */
void sc_shown_postmortems_make(struct sc_scratch *scratch, const struct sc_frame_makers *makers,
                               const json_t *postmortem, sc_shown_postmortems_add *add,
                               void *context);

#endif
