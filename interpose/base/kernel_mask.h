/* Reads and sets the calling thread's signal mask in Linux, by system calls that bypass the C
 * library and the library's hooks. The mask includes signals 32 and 33, which glibc hides.
 *
 * Async-signal-safe; no lock; errno is kept. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 */

#ifndef SC_INTERPOSE_BASE_KERNEL_MASK_H
#define SC_INTERPOSE_BASE_KERNEL_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "common/kernel.h"

#define SC_SIGNAL_BIT(number) (UINT64_C(1) << ((number)-1))

/* Every signal except those that report a fault: a fault whose signal is blocked kills the process.
 */
#define SC_KERNEL_MASK_ALL_BUT_FAULTS                                                              \
    (~(SC_SIGNAL_BIT(SIGSEGV) | SC_SIGNAL_BIT(SIGBUS) | SC_SIGNAL_BIT(SIGFPE) |                    \
       SC_SIGNAL_BIT(SIGILL) | SC_SIGNAL_BIT(SIGTRAP) | SC_SIGNAL_BIT(SIGSYS)))

/* The signal by which setuid and the like, called by another thread, change this thread (glibc,
 * nptl_setxid.c). It must not stay blocked: the other thread waits for this one and holds the lock
 * that pthread_create needs. */
#define SC_KERNEL_MASK_SETXID SC_SIGNAL_BIT(33)

/* The signals that the C library reserves for itself. */
#define SC_KERNEL_MASK_LIBC (SC_SIGNAL_BIT(32) | SC_KERNEL_MASK_SETXID)

/* Returns the mask that Linux uses of a sigset_t: its first 64 bits. */
static inline uint64_t sc_kernel_mask_of(const sigset_t *set)
{
    uint64_t mask;
    memcpy(&mask, set, sizeof mask);
    return mask;
}

/* Sets the thread's mask of blocked signals. Returns the former one. */
static inline uint64_t sc_kernel_mask_set(uint64_t mask)
{
    uint64_t before = 0;
    sc_kernel_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
    return before;
}

/* Blocks these signals besides those that are blocked. Returns the former mask; with 0 nothing
 * changes. */
static inline uint64_t sc_kernel_mask_block(uint64_t more)
{
    uint64_t before = 0;
    sc_kernel_call(SYS_rt_sigprocmask, SIG_BLOCK, &more, &before, sizeof more);
    return before;
}

/* Unblocks these signals. */
static inline void sc_kernel_mask_unblock(uint64_t fewer)
{
    sc_kernel_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &fewer, NULL, sizeof fewer);
}

/* Is a signal pending that the mask `without` would let through? The present mask blocks it, since
 * it is pending. Somebody may wait for this thread to handle that signal. */
static inline bool sc_kernel_mask_holds_back(uint64_t without)
{
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & ~without) != 0;
}

#endif
