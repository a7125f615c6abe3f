/* Finds the function that the program called: the runtime's (cudaMemcpyAsync), where the report
 * names the driver's that this led to. */
#ifndef SC_REPORT_COMMAND_CALLED_H
#define SC_REPORT_COMMAND_CALLED_H

#include "report/command/frames_shown.h"
#include "report/command/scratch.h"

#include <jansson.h>

/* The function that the program called. `side`: a call in a report, with `api`. CUPTI has told the
 * runtime's function, or the stack tells it. If neither does, it is `api`; "?": there is no
 * `api`. */
const char *sc_called_function(const json_t *side, const struct sc_frames *stack);

/* "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or the driver's function alone where the program called
 * that. */
const char *sc_called_words(struct sc_scratch *scratch, const json_t *side,
                            const struct sc_frames *stack);

#endif
