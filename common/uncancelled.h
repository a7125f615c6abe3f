/* Blocks of code in which the calling thread is not cancelled (pthread_cancel). Calls of CUDA and
 * of memory functions are no cancellation points, so what the library does in them must not be one,
 * either: libunwind reads and writes a pipe, and waits are cancellation points, too.
 *
 * Thread-safe; signal-safe with the GNU C library; no lock; errno is kept. */
#ifndef SC_TOOLS_UNCANCELLED_H
#define SC_TOOLS_UNCANCELLED_H

#include <pthread.h>
#include <stddef.h>

#include "common/library_lock.h"

/* Has the calling thread not be cancelled from now on. Returns the former state for
 * sc_uncancelled_end. */
static inline int sc_uncancelled_begin(void)
{
    int former = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &former);
    return former;
}

/* Sets the former state again at the end of a block: the cleanup of both macros here. */
static inline void sc_uncancelled_end(const int *former)
{
    pthread_setcancelstate(*former, NULL);
}

/* Prevents the cancellation of the thread until the end of the block, even an asynchronous one. An
 * asynchronous cancellation is then not delivered before the thread's next cancellation point: the
 * GNU C library sends no second signal. */
#define SC_UNCANCELLED()                                                                           \
    __attribute__((cleanup(sc_uncancelled_end), unused)) const int cancel_state_ =                 \
        sc_uncancelled_begin()

/* Begins a block in which cancellation points do not cancel the thread. One that may be cancelled
 * at any instruction (asynchronous) gets its state back: it may be cancelled here as anywhere. The
 * check at the end is for a cancellation that has come in between; not within a lock of the
 * library, which would never be released. */
static inline int sc_uncancelled_at_points_begin(void)
{
    int type = PTHREAD_CANCEL_DEFERRED;
    int former = sc_uncancelled_begin();
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    if (__builtin_expect(type == PTHREAD_CANCEL_ASYNCHRONOUS, 0)) {
        pthread_setcanceltype(type, NULL);
        pthread_setcancelstate(former, NULL);
        if (sc_library_lock_depth == 0)
            pthread_testcancel(); /* a cancellation may have come just now */
    }
    return former;
}

/* Until the end of the block no call is a cancellation point (sc_uncancelled_at_points_begin). */
#define SC_NO_CANCELLATION_POINT()                                                                 \
    __attribute__((cleanup(sc_uncancelled_end), unused)) const int cancel_state_ =                 \
        sc_uncancelled_at_points_begin()

#endif
