/* The hook of syscall(), by which programs make system calls by number.
 *
 * For a call that has a hooked libc function the memory is prefaulted as in that hook
 * (interpose/system_calls/io_rows.h, raw_calls.def). Calls that change mappings, start another
 * program or end the process are handled as in their hooks, too. Mask calls do not really block
 * SIGSEGV (interpose/signals/signals.h). A child that has run no fork handler of the library
 * unprotects its parent's guarded pages before it starts a program or sets a signal's action. Every
 * other call goes to libc's syscall(), without pinned memory by a jump.
 *
 * Async-signal-safe and no cancellation point, as libc's is. The library's own calls do not come
 * here (common/kernel.h). */

/* Terms (docs/glossary.md):
 *   guard: page protection of the memory of operations in flight
 *   hook: our function in the place of one of the C library's
 *   host function: a function that the driver calls in a stream's order (cuLaunchHostFunc)
 *   range: host memory that the driver knows: one allocation or one registration
 */

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

#include "common/frames.h"
#include "common/kernel.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/unwinder_pipe.h"
#include "interpose/base/upcalls.h"
#include "interpose/guard/door.h"
#include "interpose/guard/loans.h"
#include "interpose/libc/mmap.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/upwards.h"
#include "interpose/streams/host_functions.h"
#include "interpose/system_calls/exec.h"
#include "interpose/system_calls/exempt_objects.h"
#include "interpose/system_calls/io.h"
#include "interpose/system_calls/prefault.h"
#include "track/track_views.h"

#include "common/poison.h"

enum { SEAL = 462 }; /* mseal, which older headers lack */

typedef long call_function(long number, long a, long b, long c, long d, long e, long f);

SC_NEXT_RECORD(next_call, "syscall", NULL);

/* Fails as libc's syscall() does. */
static long fail_with(int error)
{
    errno = error;
    return -1;
}

/* Makes the system call directly, as libc's syscall() does, with errno and -1. Used before the
 * library's constructor has looked that up: a look-up takes a lock, and syscall() may be called in
 * a signal handler. */
static long call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    enum { ERRORS = 4096 };
    long result = sc_kernel_call6(number, a, b, c, d, e, f);
    return result < 0 && result > -ERRORS ? fail_with((int)-result) : result;
}

/* Returns what the hook calls: libc's syscall(), or, before that is looked up, a function that
 * makes the system call itself. */
static call_function *callee(void)
{
    call_function *found = sc_loader_found(&next_call);
    return sc_likely(found != NULL) ? found : call_kernel;
}

/* ---- masks ---- */

/* Reads the signal mask at the address (0: none). False: it cannot be read. One that may lie on a
 * protected page is read by a load, since the guard handles its fault; Linux would fail there. */
static bool read_mask(uint64_t *mask, long address)
{
    if (address && sc_track_range_may_be_near(&sc_track, (void *)address)) {
        memcpy(mask, (void *)address, sizeof *mask);
        return true;
    }
    return !address || sc_prefault_peek(mask, (void *)address, sizeof *mask);
}

/* Called after the program has changed its mask, of which Linux got all but SIGSEGV: records
 * whether the program has SIGSEGV blocked now, or that only other signals have changed. */
static void believe_changed(long how, uint64_t asked)
{
    bool is_named = asked & SC_SIGNAL_BIT(SIGSEGV);
    if (is_named && how != SIG_UNBLOCK)
        sc_signal_mask_believe_blocked(sc_kernel_mask_block(0));
    else if (is_named || how == SIG_SETMASK)
        sc_signal_mask_believe_unblocked();
    else
        sc_signal_mask_note_other_signals((int)how, asked);
}

/* Changes the mask for a program that calls rt_sigprocmask by its number, as the hook of
 * sigprocmask does: Linux never gets SIGSEGV, and it is recorded whether the program has it
 * blocked. Masks that may lie on a protected page are copied. A call within a change that the
 * library itself makes, or a hook, is not the program's, and records nothing. Before SIGSEGV is
 * shared, and for arguments that Linux refuses, the call is made as it is. */
static long change_mask(long how, long set, long old, long size_bytes)
{
    const uint64_t fault = SC_SIGNAL_BIT(SIGSEGV);
    uint64_t asked = 0;
    uint64_t former = 0;
    if (!sc_sharing_is_on() || size_bytes != sizeof asked || !read_mask(&asked, set))
        return callee()(SYS_rt_sigprocmask, how, set, old, size_bytes, 0, 0);
    bool is_of_program = !sc_signal_mask_is_changing() && !sc_signal_mask_change_is_ours();
    bool was_blocked = is_of_program && sc_signal_mask_really_blocks_fault();
    uint64_t given = how == SIG_UNBLOCK ? asked : asked & ~fault;
    long into = old && sc_track_range_may_be_near(&sc_track, (void *)old) ? (long)&former : old;
    long result = callee()(SYS_rt_sigprocmask, how, set ? (long)&given : 0, into, size_bytes, 0, 0);
    if (result == 0 && into != old)
        *(uint64_t *)old = former;
    if (!is_of_program)
        return result;
    if (result == 0 && old && was_blocked)
        *(uint64_t *)old |= fault;
    if (result == 0 && set)
        believe_changed(how, asked);
    return result;
}

/* ---- calls whose memory is prefaulted ---- */

/* Makes a system call of syscall() that uses memory of the program: `prefault` makes that
 * accessible before, and keeps it so (loans). If the call fails as it does on a protected page, it
 * is repeated, SC_IO_REPEATS_MAX times at most. `of`: the arguments. */
static long prefault_and_call(sc_io_prefault *prefault, void *site, long number, const long *of)
{
    struct sc_loans loans = {.frame = SC_FRAME()};
    prefault(&loans, site, of[0], of[1], of[2], of[3], of[4], of[5]);
    long result = callee()(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    for (unsigned repeats = 0;
         sc_unlikely(result == -1) && sc_io_may_be_guards(errno) && repeats < SC_IO_REPEATS_MAX &&
         sc_prefault_is_allowed() && prefault(NULL, site, of[0], of[1], of[2], of[3], of[4], of[5]);
         repeats++)
        result = callee()(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    sc_loans_end(&loans);
    return result;
}

/* ---- calls that have hooks of their own ---- */

/* Is it a system call whose libc function has a hook that does more than prefault? */
static inline __attribute__((always_inline)) bool has_hook(long number)
{
    switch (number) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mremap:
    case SYS_mprotect:
    case SYS_pkey_mprotect:
    case SEAL:
    case SYS_execve:
    case SYS_exit_group:
    case SYS_rt_sigprocmask:
    case SYS_rt_sigaction:
        return true;
    default:
        return false;
    }
}

/* May the call set RLIMIT_DATA? It is checked even if nothing can be guarded yet. */
static inline __attribute__((always_inline)) bool may_set_limit(long number)
{
    return number == SYS_prlimit64 || number == SYS_setrlimit;
}

/* Does what the libc function's hook does before the call. True: the call has been made, or is not
 * to be made, and has succeeded. The hook itself is not called: a library after this one may come
 * back here with the number. */
static bool do_as_hook(long number, const long *of, void *site)
{
    void *address = (void *)of[0];
    switch (number) {
    case SYS_mmap:
        sc_mmap_map(address, (size_t)of[1], (int)of[3], site);
        return false;
    case SYS_munmap:
        return sc_mmap_unmap(address, (size_t)of[1], site);
    case SYS_mremap:
        sc_mmap_remap(address, (size_t)of[1], (size_t)of[2], (int)of[3], (void *)of[4], site);
        return false;
    case SYS_execve:
        sc_exec_prepare();
        return false;
    case SEAL:
        sc_mmap_seal(address, (size_t)of[1]);
        return false;
    default:
        sc_mmap_protect(number == SYS_mprotect ? "mprotect" : "pkey_mprotect", address,
                        (size_t)of[1], (int)of[2], site);
        return false;
    }
}

/* Makes a call whose libc function has a hook that does more than prepare memory. exit_group first
 * ends the library. A call that fails for want of mappings is repeated if the guard can free some.
 */
static long call_prepared(long number, const long *of, void *site)
{
    if (number == SYS_exit_group)
        return callee()(number, sc_life_finish((int)of[0]), 0, 0, 0, 0, 0);
    if (do_as_hook(number, of, site))
        return 0;
    long result = callee()(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    return result == -1 && sc_guard_makes_room()
               ? callee()(number, of[0], of[1], of[2], of[3], of[4], of[5])
               : result;
}

/* ---- host functions that wait ---- */

/* Is it a wait on a futex that will sleep, without a limit? C++ implements waits on atomics,
 * semaphores, latches and barriers so. If the word in memory differs from the expected value, Linux
 * does not wait. */
static bool is_endless_wait(const long *of)
{
    long command = of[1] & FUTEX_CMD_MASK;
    uint32_t word;
    return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && !of[3] &&
           sc_prefault_peek(&word, (void *)of[0], sizeof word) && word == (uint32_t)of[2];
}

/* If this thread runs a host function (that the driver calls in a stream's order), and waits for
 * another thread by this call, records that: work behind the function may then wait for the
 * program.
 */
static void note_wait_of_host_function(long number, const long *of)
{
    if (number == SYS_futex && sc_host_functions_is_here() && is_endless_wait(of))
        sc_host_functions_waits();
}

/* ---- the hook ---- */

/* Makes a call of syscall() that may need something done before it: what the hook of the libc
 * function does, a mask without SIGSEGV, memory made accessible. In a forked child inherited pages
 * are unprotected before an action is set or another program started, as the library's fork handler
 * may not have run. */
static __attribute__((noinline)) long call_checked(long number, long a, long b, long c, long d,
                                                   long e, long f, void *site)
{
    sc_io_prefault *prefault =
        sc_prefault_is_needed() || may_set_limit(number) ? sc_io_prefault_of(number) : NULL;
    const long of[] = {a, b, c, d, e, f};
    note_wait_of_host_function(number, of);
    if (number == SYS_rt_sigprocmask)
        return change_mask(a, b, c, d);
    if (number == SYS_rt_sigaction || (number == SYS_execve && !sc_active()))
        sc_guard_unprotect_in_child();
    else if (has_hook(number) && sc_active())
        return call_prepared(number, of, site);
    if (prefault)
        return prefault_and_call(prefault, site, number, of);
    return callee()(number, a, b, c, d, e, f);
}

/* Jumps to libc's syscall(). On x86-64 the seventh argument stays where the caller put it on the
 * stack. To pass it on would write to that place, which lies in the frame of a caller that has
 * passed fewer. */
#if defined(__x86_64__)
typedef long jump_function(long number, long a, long b, long c, long d, long e);
#define JUMP(found, number, a, b, c, d, e, f) ((jump_function *)(found))(number, a, b, c, d, e)
#else
#define JUMP(found, number, a, b, c, d, e, f) ((call_function *)(found))(number, a, b, c, d, e, f)
#endif

/* A name of the library's, since the parameters differ from those in the C library's header. */
SC_EXPORT call_function raw_call __asm__("syscall");

/* The hook of syscall(). Jumps to libc's function if nothing is to be done: no memory can be
 * guarded, and the call is none that needs more. libunwind writes to a pipe of its own, which is
 * the library's. */
long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    void *found = sc_loader_found(&next_call);
    if (sc_unlikely(number == SYS_write && (int)a == SC_UNWINDER_PIPE))
        return sc_unwinder_pipe_write((const void *)b);
    if (sc_unlikely(!found) || has_hook(number) || may_set_limit(number) ||
        sc_exempt_objects_may_be_needed())
        return call_checked(number, a, b, c, d, e, f, SC_SITE());
    return JUMP(found, number, a, b, c, d, e, f);
}
