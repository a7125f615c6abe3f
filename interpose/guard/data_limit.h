/* Finds whether the size of the process's data is limited (RLIMIT_DATA, ulimit -d). If it is, no
 * page is guarded (protected while a copy uses it) by mprotect.
 *
 * Writable private pages count against that limit, and protected ones do not. So while a page is
 * protected, the program may use up the room that the page leaves. mprotect then fails to make the
 * page writable again, and a thread that touches the page faults for ever.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_GUARD_DATA_LIMIT_H
#define SC_INTERPOSE_GUARD_DATA_LIMIT_H

#include <stdbool.h>

/* Is the limit set? Calls prlimit every few milliseconds, since the program or another process may
 * set the limit at any time. */
bool sc_data_limit_is_set(void);

/* Takes the limit as set until the next call of prlimit. Called when the program is about to set
 * the limit. */
void sc_data_limit_note_change(void);

#endif
