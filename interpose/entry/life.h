/* The start and the end of the library in a process, for other files of entry/. Lower folders call
 * them through base/upcalls.h.
 *
 * Thread-safe. Locks: the caller of sc_life_dump and sc_life_memory may hold none; the others may
 * be called with locks held. Not for a signal handler. */

/* Terms (docs/glossary.md):
 *   held: of memory: freed by the program, and kept by the library until the device is done
 */

#ifndef SC_INTERPOSE_ENTRY_LIFE_H
#define SC_INTERPOSE_ENTRY_LIFE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the library is off in this process (mode=off). Before CUDA is used, the
 * environment is read for that. */
bool sc_life_is_off(void);

/* Returns true if this process itself has used CUDA while the library was watching: not its parent
 * before a fork, nor a child of vfork. */
bool sc_life_is_ours(void);

/* Writes a `summary` line into the report, of the run so far; the process goes on. */
void sc_life_dump(void);

/* Writes what memory is held into `json`, as `{"memory":{...}}`. `question`: a struct
 * sc_life_question, a pointer to void since the function may run on another stack. Its `length`
 * gets the text's length, or 0 if the text does not fit. No lock of the library's may be held. */
struct sc_life_question {
    char *json;
    size_t size;
    bool asks; /* the driver may be asked */
    size_t length;
};
void sc_life_memory(void *question);

#endif
