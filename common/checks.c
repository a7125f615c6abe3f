#include "common/checks.h"

#ifdef SC_DEBUG

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/brief_lock.h"
#include "common/kernel.h"
#include "common/text.h"
#include "common/trace.h"

#include "common/poison.h"

enum { FEW = 16, STATUS = 134 };

static _Atomic int32_t process; /* id of the process that called this first, before any fork */

/* Returns the id of the calling thread, asked of Linux each time, since a child of fork has
 * another one. The process that asks first is noted: in any other one, locks may be a fork's
 * (sc_checks_is_own). */
int32_t sc_checks_thread(void)
{
    if (!atomic_load_explicit(&process, memory_order_relaxed))
        atomic_store_explicit(&process, (int32_t)sc_kernel_call(SYS_getpid), memory_order_relaxed);
    return (int32_t)sc_kernel_call(SYS_gettid);
}

/* Is `owner`, a thread id that a lock has stored, the calling thread? In a child of fork the locks
 * that the forking thread held are the child's, though they have the former thread's id: there
 * every owner counts as own. */
bool sc_checks_is_own(int32_t owner)
{
    return owner == sc_checks_thread() ||
           (owner != 0 &&
            sc_kernel_call(SYS_getpid) != atomic_load_explicit(&process, memory_order_relaxed));
}

/* Returns the id of the thread that has the mutex, 0 for none, as glibc stores it there. */
int32_t sc_checks_owner_of_mutex(const pthread_mutex_t *lock)
{
    return lock->__data.__owner;
}

/* Returns the id of the thread that has the brief lock; 0: none. */
int32_t sc_checks_owner_of_brief(const struct sc_brief_lock *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed);
}

/* Is a check due that looks at `count` records? Each time if they are few; else once in about
 * `count` calls, so that a debug build stays usable. */
bool sc_checks_are_due(_Atomic uint32_t *turn, uint64_t count)
{
    if (count > FEW && atomic_fetch_add_explicit(turn, 1, memory_order_relaxed) < count)
        return false;
    atomic_store_explicit(turn, 0, memory_order_relaxed);
    return true;
}

/* Ends the process by SIGABRT, past all handlers of the program and of the library, whose state
 * may be broken. abort() is a hook of the library's, so system calls do it. */
static _Noreturn void end_process(void)
{
    const uint64_t abort_bit = UINT64_C(1) << (SIGABRT - 1);
    const char default_action[64] = {0}; /* Linux's struct sigaction: SIG_DFL, no flags */
    sc_kernel_call(SYS_rt_sigaction, SIGABRT, default_action, NULL, sizeof abort_bit);
    sc_kernel_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &abort_bit, NULL, sizeof abort_bit);
    sc_kernel_call(SYS_tgkill, sc_kernel_call(SYS_getpid), sc_checks_thread(), SIGABRT);
    for (;;)
        sc_kernel_call(SYS_exit_group, STATUS);
}

/* Prints which assertion failed, by a system call: the failure may be in the allocator or a
 * lock. */
static void print_failure(const char *file, int line, const char *function, const char *what)
{
    char bytes[1024];
    struct sc_text text = sc_text_in(bytes, sizeof bytes);
    sc_text_format(&text, "safecopy: assertion failed: %s:%d: %s: %s (thread %d)\n", file, line,
                   function, what, sc_checks_thread());
    sc_kernel_call(SYS_write, STDERR_FILENO, text.bytes, text.used);
}

/* Prints the failed assertion and what the thread did last, and ends the process. A thread whose
 * assertion fails while it prints says nothing more. */
_Noreturn void sc_checks_fail(const char *file, int line, const char *function, const char *what)
{
    static __thread bool has_failed;
    if (!has_failed) {
        has_failed = true;
        print_failure(file, line, function, what);
        sc_trace_print_own();
    }
    end_process();
}

#endif
