/* What guard/, signals/ and system_calls/ ask of the guard's door (interpose/guard/door.h) among
 * themselves. Signal safe.
 */
#ifndef SC_INTERPOSE_GUARD_GUARD_H
#define SC_INTERPOSE_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Is anything protected, or about to be let go? One relaxed load. */
bool sc_guard_busy(void);

/* sc_guard_has, without asking that. Lock-free. */
bool sc_guard_overlaps(const void *address, size_t size_bytes);

/* Lets go of all pages. `is_last`: the process ends, or is about to become another, and waits for
 * no lock without a limit. */
void sc_guard_unprotect_all(bool is_last);

#endif
