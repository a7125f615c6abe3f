/* Finds out, at the end of a process of which no call came through the library, whether it used
 * CUDA all the same. Nothing was watched in such a process, and the report has to say so.
 *
 * A tool may stand between the program and the driver, as Nsight Compute does; a program may have a
 * loader of its own, or libcuda in another namespace. Not for a signal handler. */
#ifndef SC_INTERPOSE_ENTRY_UNREACHED_H
#define SC_INTERPOSE_ENTRY_UNREACHED_H

#include <stdbool.h>

/* Returns true if the process has used the driver, although no call came through the library.
 * Called at the end of the process. Asks the driver, if that is loaded. Takes the loader's lock. */
bool sc_unreached_was_used(void);

#endif
