/* Lets the library work in a process that runs under a sanitizer (ASan, TSan). The sanitizer's
 * run-time is in the executable (clang), or in a library that comes after this one in load order
 * (gcc, clang -shared-libsan).
 *
 * AddressSanitizer's library ends a process in which it is not loaded first, since hooks of others
 * could hide its own. This library's hooks call the next ones. So if AddressSanitizer's library
 * comes right after this one, its check is turned off.
 *
 * A run-time that sees only a part of what the library moves, compares, locks or waits for reports
 * races and deadlocks that do not exist. While it reports, it takes locks that the thread already
 * holds. So where there is a run-time, the library's own calls of such functions (Makefile:
 * PAST_HOOKS) go to the C library, past the run-time's interceptors.
 *
 * Thread-safe. Locks: sc_sanitizers_past takes the loader's, and is not for a signal handler. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_BASE_SANITIZERS_H
#define SC_INTERPOSE_BASE_SANITIZERS_H

#include <pthread.h>
#include <stdbool.h>

#include "interpose/base/compiler.h"

typedef int sc_past_function(pthread_mutex_t *mutex);

/* The C library's mutex functions, past the run-time's interceptors. NULL: there is no run-time;
 * interpose/system_calls/futexes.c then finds them past the library's own hooks. */
extern struct sc_past_mutex {
    sc_past_function *pthread_mutex_lock, *pthread_mutex_trylock, *pthread_mutex_unlock;
} sc_past_mutex;

/* Finds libc's function of that name past the run-time's interceptors: for functions that glibc
 * 2.28 lacks, which the Makefile's PAST_HOOKS cannot name. NULL: libc lacks it, or there is no
 * run-time. */
void *sc_sanitizers_past(const char *name);

/* Has the program ThreadSanitizer's run-time? Then stacks show the calling frame only, since that
 * run-time sees libunwind's locks and reports races there: when a thread's last destructors take
 * these locks, it has already forgotten the thread. */
bool sc_sanitizers_see_threads(void);

/* Returns the options for AddressSanitizer's run-time, which calls this once, at its start, before
 * the library's constructors or after them: the library's option, followed by the result of the
 * next such function in load order. ASAN_OPTIONS overrides the result. A function of this name in
 * the executable hides this one. */
SC_EXPORT const char *__asan_default_options(void);

#endif
