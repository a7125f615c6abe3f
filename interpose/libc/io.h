/* System calls by number, as syscall() makes them: what the hooks of io.c know of each.
 *
 * Thread-safe. Locks: those of a touch (base/upcalls.h), where something is guarded. Safe in a
 * signal handler as the call itself is.
 */
#ifndef SC_INTERPOSE_LIBC_IO_H
#define SC_INTERPOSE_LIBC_IO_H

#include <stdbool.h>

#include "interpose/guard/loans.h"

enum { SC_IO_REPEATS_MAX = 8 }; /* of a call whose EFAULT may be the program's own */

/* Lends what such a call works on, and waits for what is guarded of it. With no loans it is about
 * to be repeated. True: some of it lies where pages were guarded at some time. */
typedef bool sc_io_look(struct sc_loans *loans, void *site, long a, long b, long c, long d, long e,
                        long f);

/* NULL for a number that nothing is known of. */
sc_io_look *sc_io_look_of(long number);

#endif
