/* What guard/, signals/ and system_calls/ call in each other to implement the guard
 * (interpose/guard/door.h). Signal-safe. */

/* Terms (docs/glossary.md):
 *   door: a way by which calls reach the wrappers: an exported symbol, dlsym, cuGetProcAddress
 *   guard: page protection of the memory of operations in flight
 */

#ifndef SC_INTERPOSE_GUARD_GUARD_H
#define SC_INTERPOSE_GUARD_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Is any page protected, or about to be unprotected? One relaxed load. */
bool sc_guard_busy(void);

/* May the interval overlap an operation in flight, or a page that is protected for one? To be asked
 * once sc_guard_busy is true, which is one load; sc_guard_has asks both. Lock-free. */
bool sc_guard_overlaps(const void *address, size_t size_bytes);

/* Unprotects all pages, and stops guarding their operations. `is_last`: the process ends or is
 * about to exec, so every wait for a lock has a limit (a second): its owner may never run again. */
void sc_guard_unprotect_all(bool is_last);

#endif
