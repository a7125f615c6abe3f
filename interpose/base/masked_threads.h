/* Threads that begin with a signal mask of their own.
 *
 * Thread-safe; no lock of ours; not for a signal handler.
 */
#ifndef SC_INTERPOSE_BASE_MASKED_THREADS_H
#define SC_INTERPOSE_BASE_MASKED_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void *sc_run_function(void *argument);
typedef int sc_create_function(pthread_t *thread, const pthread_attr_t *attributes,
                               sc_run_function *run, void *argument);

/* Makes a thread by `create` (pthread_create) that has the mask from its first instruction on. The
 * mask is put into the attributes. The C library may wait for a thread of the program's meanwhile,
 * so the caller's signals are not blocked. Only with a C library before 2.32, where a thread
 * inherits its creator's mask, has the caller the mask during the call. */
int sc_masked_threads_create(sc_create_function *create, pthread_t *thread,
                             pthread_attr_t *attributes, uint64_t mask, sc_run_function *run,
                             void *argument);

/* Initialises `copy` as a copy of `attributes`, whose owner may use them at the same time. NULL:
 * the attributes of a thread that was given none. The mask is not copied. */
void sc_masked_threads_copy(pthread_attr_t *copy, const pthread_attr_t *attributes);

/* Do the attributes (NULL: none) set the mask with which a thread begins? Otherwise it begins with
 * its creator's. */
bool sc_masked_threads_have_mask(const pthread_attr_t *attributes, uint64_t *mask);

#endif
