/* Opens libunwind, which is loaded at run time and never linked. Thread-safe. Locks: takes the
 * loader's. Not for a signal handler. */
#ifndef SC_INTERPOSE_BASE_UNWIND_LIBRARY_H
#define SC_INTERPOSE_BASE_UNWIND_LIBRARY_H

/* Opens the libunwind in this library's folder, or else the system's; never one in a relative
 * folder (report/libraries.h). Returns a handle of dlopen, or NULL. */
void *sc_unwind_library_open(void);

/* Prints on stderr which folders were not searched, as the option `verbosity` permits. */
void sc_unwind_library_say_skipped(int verbosity);

#endif
