/* Opens libunwind, which is loaded when the program runs and is never linked.
 *
 * Thread-safe. Locks: all take the loader's. Not for a signal handler. */
#ifndef SC_INTERPOSE_BASE_UNWIND_LIBRARY_H
#define SC_INTERPOSE_BASE_UNWIND_LIBRARY_H

/* Opens the libunwind beside this library, or else the system's; never one in a relative folder
 * (report/libraries.h). A handle of dlopen, or NULL. */
void *sc_unwind_library_open(void);

/* Says on stderr which folders were not searched, as the option `verbosity` permits. */
void sc_unwind_library_say_skipped(int verbosity);

#endif
