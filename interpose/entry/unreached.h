/* Finds out, at the end of a process of which no call came through the library, whether CUDA was
 * used all the same. Then the report has to say that nothing was looked for.
 *
 * A tool may stand between the program and the driver (Nsight Compute does). A program may have a
 * loader of its own, or libcuda in another namespace. Nothing was looked for in such a process, and
 * the report has to say so. Not for a signal handler. */
#ifndef SC_INTERPOSE_ENTRY_UNREACHED_H
#define SC_INTERPOSE_ENTRY_UNREACHED_H

#include <stdbool.h>

/* At the end of a process in which CUDA never came up for the library: was the driver used all the
 * same? Asks the driver, if it is loaded. Takes the loader's lock. */
bool sc_unreached_was_used(void);

#endif
