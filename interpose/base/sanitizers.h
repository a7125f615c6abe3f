/* The run-times of sanitizers: in the executable (clang), or in a library that the loader has
 * behind us (gcc, clang -shared-libsan).
 *
 * AddressSanitizer's library ends a process in which it was not loaded first, since others' hooks
 * could hide its own. Our hooks call the next ones. So where that library is next to us, its check
 * is turned off.
 *
 * A run-time that sees a part of what the library itself moves, compares, locks or waits for
 * reports races and deadlocks that are none. One that reports asks us for locks that the thread
 * has. So where there is a run-time, our own calls of such functions (Makefile: PAST_HOOKS) go to
 * the C library, past the run-time's interceptors.
 *
 * Thread-safe. Locks: sc_sanitizers_past takes the loader's, and is not for a signal handler.
 */
#ifndef SC_INTERPOSE_BASE_SANITIZERS_H
#define SC_INTERPOSE_BASE_SANITIZERS_H

#include <pthread.h>
#include <stdbool.h>

#include "interpose/base/compiler.h"

typedef int sc_past_function(pthread_mutex_t *mutex);

/* The C library's functions, past the run-time's interceptors. NULL: there is no such run-time, and
 * interpose/system_calls/futexes.c knows what is past our hooks. */
extern struct sc_past_mutex {
    sc_past_function *pthread_mutex_lock, *pthread_mutex_trylock, *pthread_mutex_unlock;
} sc_past_mutex;

/* Libc's function, past the run-time: for what glibc 2.28 lacks, which PAST_HOOKS cannot name. NULL
 * where libc lacks it, or there is no run-time. */
void *sc_sanitizers_past(const char *name);

/* Is there ThreadSanitizer's run-time? It sees libunwind's locks: it reports races there, and has
 * forgotten the thread when the thread's last destructors take them. So stacks show the calling
 * frame only. */
bool sc_sanitizers_see_threads(void);

/* AddressSanitizer's run-time calls this before it reads ASAN_OPTIONS, which overrules the answer.
 * The answer is that of the next such function behind us, with ours before it. One of the
 * executable's hides this one. Called once, in start-up, before our constructors or behind them. */
SC_EXPORT const char *__asan_default_options(void);

#endif
