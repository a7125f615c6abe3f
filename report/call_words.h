/* A call in words, for people: what the program called, and the frame of the user's that did.
 *
 * Names are looked up for as many of the innermost frames as it takes, each perhaps in a module's
 * file (report/symtab.h), so it is for few calls. Locks: all take the loader's lock.
 */
#ifndef SC_REPORT_CALL_WORDS_H
#define SC_REPORT_CALL_WORDS_H

#include <stdint.h>

struct sc_text;

/* Appends "cudaMemcpyAsync (cuMemcpyHtoDAsync_v2)", or `api` alone where the program called that.
 * The runtime's function is `runtime_api`, if CUPTI has told it; NULL: the stack tells, in which
 * libcudart is a library or linked in. */
void sc_call_words_put_api(struct sc_text *text, const char *api, const char *runtime_api,
                           uint32_t stack_id);

/* Appends the preposition and the frame that tells most: "load_batch (train.py:12)". Nothing where
 * there is no stack. */
void sc_call_words_put_place(struct sc_text *text, const char *preposition, uint32_t stack_id);

#endif
