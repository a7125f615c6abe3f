/* Programs that are built with a sanitizer bring its run-time: in the executable (clang), or in a
 * library that the loader has behind us (gcc, clang -shared-libsan).
 *
 * AddressSanitizer's, where it is a library, ends a process in which it was not loaded first, since
 * others' hooks could hide its own. Ours call the next ones, so where it is next to us that check
 * is turned off.
 *
 * What we move, compare, read as text, lock or wait for ourselves is none of the program's
 * business: a run-time that sees a part of it reports races and deadlocks that are none, and one
 * that reports asks us for locks that the thread has. So where there is a run-time, our own calls
 * of such functions (Makefile: PAST_HOOKS) are the C library's, past its interceptors.
 */
#ifndef SC_INTERPOSE_BASE_SANITIZERS_H
#define SC_INTERPOSE_BASE_SANITIZERS_H

#include <pthread.h>
#include <stdbool.h>

#include "interpose/base/compiler.h"

typedef int sc_past_function(pthread_mutex_t *mutex);

/* NULL, each: there is no such run-time, and interpose/libc/futexes.c knows what is past our hooks.
 */
extern struct sc_past_mutex {
    sc_past_function *pthread_mutex_lock, *pthread_mutex_trylock, *pthread_mutex_unlock;
} sc_past_mutex;

/* Is there ThreadSanitizer's run-time? libunwind's locks come by it: it reports races of theirs,
 * and lacks the thread when they are taken by its last destructors. Stacks show the calling frame
 * only.
 */
bool sc_sanitizers_see_threads(void);

/* What the run-time asks for before it reads ASAN_OPTIONS, which overrules it: the answer of the
 * next such function behind us, with ours before it. One of the executable's hides this one. Called
 * once, in start-up, before our constructors or behind them. */
SC_EXPORT const char *__asan_default_options(void);

#endif
