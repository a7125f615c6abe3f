/* Words for people that say which call the program made, and from which of the user's frames:
 * "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2) at load_batch (train.py:12)". The summary on stderr, and
 * what is said before halt_on_error, use them.
 *
 * Frames are named from the innermost one on, only as many as are needed. Each may take a search in
 * a module's file (report/symtab.h), so these functions are for few calls. Locks: all take the
 * loader's lock. */
#ifndef SC_REPORT_CALL_WORDS_H
#define SC_REPORT_CALL_WORDS_H

#include <stdint.h>

struct sc_text;

/* Appends "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or `api` alone where the program called the
 * driver itself. `runtime_api` is the runtime's function where CUPTI has told it. NULL: the stack
 * is searched for a frame of the runtime, whether that is a library or linked in. */
void sc_call_words_put_api(struct sc_text *text, const char *api, const char *runtime_api,
                           uint32_t stack_id);

/* Appends `preposition` and the frame that tells most: " at load_batch (train.py:12)". Appends
 * nothing where there is no stack. */
void sc_call_words_put_place(struct sc_text *text, const char *preposition, uint32_t stack_id);

#endif
