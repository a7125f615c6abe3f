/* Finds, for a system call that the program makes by syscall() and its number, the function that
 * prefaults the memory which the call uses (prefault.h). The functions are made from the same
 * tables as the hooks of libc's functions (io_rows.h).
 *
 * Thread-safe. Locks: those of a touch (interpose/guard/touches.h), if something is guarded. Safe
 * in a signal handler if the system call is. */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   loan: memory that a system call uses, unprotected until the call returns
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

#ifndef SC_INTERPOSE_SYSTEM_CALLS_IO_H
#define SC_INTERPOSE_SYSTEM_CALLS_IO_H

#include <errno.h>
#include <stdbool.h>

struct sc_loans;

enum { SC_IO_REPEATS_MAX = 8 }; /* how often a failed call is repeated at most */

/* May a system call have failed with this error because of a page that the guard protects? EFAULT
 * is the usual one; EIO if it wrote through /proc/self/mem (own_memory.h). */
static inline bool sc_io_may_be_guards(int error)
{
    return error == EFAULT || error == EIO;
}

/* Prefaults the memory of one kind of system call, given its arguments: adds it to `loans`, and
 * reports and waits for what is guarded of it. `loans` NULL: the call has failed. Returns whether
 * repeating it may help: some of the memory was guarded at some time, and the error is one that a
 * protected page causes. */
typedef bool sc_io_prefault(struct sc_loans *loans, void *site, long a, long b, long c, long d,
                            long e, long f);

/* Returns the function that prefaults the memory of system call `number`; NULL: there is none. */
sc_io_prefault *sc_io_prefault_of(long number);

#endif
