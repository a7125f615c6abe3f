/* Is the process's data limited (RLIMIT_DATA, ulimit -d)?
 *
 * Private pages that may be written count against that limit, and protected ones do not. So the
 * program can use up the room that a page leaves when it is guarded. Then the kernel does not let
 * the page be written again, and whoever touches it faults for ever. Nothing is guarded there.
 *
 * Thread safe and signal safe; no lock; errno is kept.
 */
#ifndef SC_INTERPOSE_GUARD_DATA_LIMIT_H
#define SC_INTERPOSE_GUARD_DATA_LIMIT_H

#include <stdbool.h>

/* The kernel is asked again after some milliseconds: the program or another one may set the limit
 * at any time. */
bool sc_data_limit_is_set(void);

/* The program is about to set the limit: it counts as set until the kernel is asked again. */
void sc_data_limit_changes(void);

#endif
