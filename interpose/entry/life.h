/* What the entry asks of start and exit; lower folders ask by base/upcalls.h.
 *
 * Thread-safe. Locks: none may be held by who calls sc_life_dump, and none matters to the others.
 * Not for a signal handler.
 */
#ifndef SC_INTERPOSE_ENTRY_LIFE_H
#define SC_INTERPOSE_ENTRY_LIFE_H

#include <stdbool.h>
#include <stddef.h>

/* Does, or would, the library do nothing in this process, by mode=off? Reads the environment until
 * CUDA is used. */
bool sc_life_is_off(void);

/* Has this very process used CUDA, under our eyes? */
bool sc_life_is_ours(void);

/* Writes a summary line; the process goes on. */
void sc_life_dump(void);

/* What is held of memory, as `{"memory":{...}}`: its length, or 0 where it does not fit. Asks the
 * driver; no lock of the library's may be held. */
size_t sc_life_memory(char *json, size_t size);

#endif
