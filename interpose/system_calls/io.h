/* System calls by number, as syscall() makes them: what the hooks of io_rows.h know of each.
 *
 * Thread-safe. Locks: those of a touch (interpose/guard/touches.h), where something is guarded.
 * Safe in a signal handler as the call itself is.
 */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_IO_H
#define SC_INTERPOSE_SYSTEM_CALLS_IO_H

#include <errno.h>
#include <stdbool.h>

struct sc_loans;

enum { SC_IO_REPEATS_MAX = 8 }; /* of a call whose error may be the program's own */

/* May the call have failed for a guarded page? EIO: through /proc/self/mem (own_memory.h). */
static inline bool sc_io_may_be_guards(int error)
{
    return error == EFAULT || error == EIO;
}

/* Lends what such a call works on, and waits for what is guarded of it. With no loans it is about
 * to be repeated. True: some of it lies where pages were guarded at some time, and the call has
 * failed as those do that meet such a page. */
typedef bool sc_io_look(struct sc_loans *loans, void *site, long a, long b, long c, long d, long e,
                        long f);

/* NULL for a number that nothing is known of. */
sc_io_look *sc_io_look_of(long number);

#endif
