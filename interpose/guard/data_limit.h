/* Tells whether the size of the process's data is limited (RLIMIT_DATA, ulimit -d). Nothing is
 * guarded by mprotect then.
 *
 * Private pages that may be written count against that limit, and protected ones do not. So the
 * program can use up the room that a page leaves while it is guarded. Then the kernel does not let
 * the page be written again, and a thread that touches it faults for ever.
 *
 * Thread-safe and signal-safe; no lock; errno is kept. */
#ifndef SC_INTERPOSE_GUARD_DATA_LIMIT_H
#define SC_INTERPOSE_GUARD_DATA_LIMIT_H

#include <stdbool.h>

/* Is there such a limit? Asks the kernel anew every few milliseconds, since the program or another
 * process may set the limit at any time. */
bool sc_data_limit_is_set(void);

/* The program is about to set the limit: it counts as set until the kernel is asked again. */
void sc_data_limit_note_change(void);

#endif
