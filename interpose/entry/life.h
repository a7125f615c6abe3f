/* Functions for the start and the end of the library in a process, for other files of entry/. Lower
 * folders reach them through base/upcalls.h.
 *
 * Thread-safe. Locks: a caller of sc_life_dump may hold none; for the others locks do not matter.
 * Not for a signal handler. */
#ifndef SC_INTERPOSE_ENTRY_LIFE_H
#define SC_INTERPOSE_ENTRY_LIFE_H

#include <stdbool.h>
#include <stddef.h>

/* Is the library off in this process (mode=off)? Before CUDA is used the environment is read for
 * the answer. */
bool sc_life_is_off(void);

/* Has this very process used CUDA, with the library watching? */
bool sc_life_is_ours(void);

/* Writes a `summary` line; the process goes on. */
void sc_life_dump(void);

/* Writes what memory is held to `json`, as `{"memory":{...}}`, and its length, or 0 if it does not
 * fit. The argument is a question. No lock of the library's may be held. */
struct sc_life_question {
    char *json;
    size_t size;
    bool asks; /* the driver may be asked */
    size_t length;
};
void sc_life_memory(void *question);

#endif
