/* Finds the function that the program itself called: the runtime's (cudaMemcpyAsync), if the report
 * names the driver's function that was called by it. */
#ifndef SC_REPORT_COMMAND_CALLED_H
#define SC_REPORT_COMMAND_CALLED_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"

#include <jansson.h>

/* Returns the function that the program called. `side`: a call in a report, with `api`. The
 * runtime's function is taken from the report if CUPTI has reported it, else from the stack; if
 * neither has it, `api` is returned, or "?" if there is none. */
const char *sc_called_function(const json_t *side, const struct sc_frames *stack);

/* Returns "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or the driver's function alone if the program
 * called that. */
const char *sc_called_words(struct sc_scratch *scratch, const json_t *side,
                            const struct sc_frames *stack);

#endif
