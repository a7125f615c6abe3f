/* Threads that begin under a mask of their own.
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

/* pthread_create by `create`, of a thread that has this mask from its first instruction on. The
 * mask is put into the attributes. The C library may wait in there for a thread of the program's,
 * so the caller's signals are not blocked, but by a C library before 2.32, which gives a thread its
 * creator's mask only. */
int sc_masked_threads_create(sc_create_function *create, pthread_t *thread,
                             pthread_attr_t *attributes, uint64_t mask, sc_run_function *run,
                             void *argument);

/* Initialises attributes like these, whose owner may be about to use them too. NULL stands for
 * those of a thread without any. The mask is not among them. */
void sc_masked_threads_copy(pthread_attr_t *copy, const pthread_attr_t *attributes);

/* Do the attributes (NULL: none) say with which mask a thread begins? Else it has its creator's. */
bool sc_masked_threads_have_mask(const pthread_attr_t *attributes, uint64_t *mask);

#endif
