/* What the program called: the runtime's function in front of the driver's, which it led to.
 */
#ifndef SC_REPORT_COMMAND_CALLED_H
#define SC_REPORT_COMMAND_CALLED_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"

#include <jansson.h>

/* The function that the program called. `side` is a call of a report, with `api`; CUPTI has told
 * the runtime's, or the stack tells. "?" where nothing does. */
const char *sc_called_function(const json_t *side, const struct sc_frames *stack);

/* "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or the driver's function alone where the program called
 * that. */
const char *sc_called_words(struct sc_scratch *scratch, const json_t *side,
                            const struct sc_frames *stack);

#endif
