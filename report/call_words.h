/* Writes for people which call the program made, and from which of the user's frames:
 * "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2) at load_batch (train.py:12)". For the summary on stderr
 * and the message of halt_on_error.
 *
 * Frames are named from the innermost one on, only as many as are needed. To name one may take a
 * search in a module's file (report/symtab.h), so these functions are for few calls. Locks: each
 * takes the loader's lock. */
#ifndef SC_REPORT_CALL_WORDS_H
#define SC_REPORT_CALL_WORDS_H

#include <stdint.h>

struct sc_text;

/* Appends "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or `api` alone if the program called the driver
 * itself. `runtime_api`: the runtime's function, if CUPTI has reported it. NULL: the stack is
 * searched for a frame of the runtime, whether that is a library or linked in. */
void sc_call_words_put_api(struct sc_text *text, const char *api, const char *runtime_api,
                           uint32_t stack_id);

/* Appends `preposition` and the most telling frame: " at load_batch (train.py:12)". Appends nothing
 * if there is no stack. */
void sc_call_words_put_place(struct sc_text *text, const char *preposition, uint32_t stack_id);

#endif
