/* CUDA that was used behind our back.
 *
 * A tool may stand between the program and the driver (Nsight Compute does), or a program may have
 * a loader of its own, or libcuda in another namespace: then no call comes through a wrapper, and
 * nothing would be said of a process in which nothing was looked for.
 */
#ifndef SC_INTERPOSE_ENTRY_UNREACHED_H
#define SC_INTERPOSE_ENTRY_UNREACHED_H

#include <stdbool.h>

/* At the end of a process for which CUDA never came up: did somebody use the driver all the same?
 * Asks the driver, if it is loaded, and takes the loader's lock. */
bool sc_unreached_was_used(void);

#endif
