/* Finds, for a system call that the program makes by syscall() and its number, what the hooks of
 * io_rows.h know of the memory that it touches.
 *
 * Thread-safe. Locks: those of a touch (interpose/guard/touches.h), if something is guarded. Safe
 * in a signal handler if the call itself is. */
#ifndef SC_INTERPOSE_SYSTEM_CALLS_IO_H
#define SC_INTERPOSE_SYSTEM_CALLS_IO_H

#include <errno.h>
#include <stdbool.h>

struct sc_loans;

enum { SC_IO_REPEATS_MAX = 8 }; /* of a call whose error may be the program's own */

/* May the call have failed because of a guarded page? EIO: it wrote through /proc/self/mem
 * (own_memory.h). */
static inline bool sc_io_may_be_guards(int error)
{
    return error == EFAULT || error == EIO;
}

/* Looks at the memory of one kind of system call, given its arguments: lends the memory to the
 * kernel, and waits for what is guarded of it. `loans` NULL: the call has failed and may be
 * repeated. Returns whether that is worth it: some of the memory lies where pages were guarded at
 * some time, and the error is one that a guarded page causes. */
typedef bool sc_io_prefault(struct sc_loans *loans, void *site, long a, long b, long c, long d,
                            long e, long f);

/* The function that looks at the memory of system call `number`; NULL: nothing is known of that
 * call. */
sc_io_prefault *sc_io_prefault_of(long number);

#endif
