/* Creates threads that begin with a given signal mask. Thread-safe; no lock of the library; not for
 * a signal handler. */
#ifndef SC_INTERPOSE_BASE_MASKED_THREADS_H
#define SC_INTERPOSE_BASE_MASKED_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

typedef void *sc_run_function(void *argument);
typedef int sc_create_function(pthread_t *thread, const pthread_attr_t *attributes,
                               sc_run_function *run, void *argument);

/* Creates a thread by `create` (pthread_create) that has the mask from its first instruction on.
 * The mask is stored in the attributes. The caller's own mask stays, since the C library may wait
 * meanwhile for a thread of the program, which may need a signal handled. A C library before 2.32
 * has no such attribute: there the caller has the mask during the call, and the thread inherits it.
 */
int sc_masked_threads_create(sc_create_function *create, pthread_t *thread,
                             pthread_attr_t *attributes, uint64_t mask, sc_run_function *run,
                             void *argument);

/* Initialises `copy` as a copy of `attributes`, whose owner may use them at the same time. NULL:
 * the default attributes. The mask is not copied. */
void sc_masked_threads_copy(pthread_attr_t *copy, const pthread_attr_t *attributes);

/* Do the attributes (NULL: none) set the mask with which a thread begins? Stores it if so.
 * Otherwise a thread begins with its creator's. */
bool sc_masked_threads_have_mask(const pthread_attr_t *attributes, uint64_t *mask);

#endif
