#include "interpose/signals/pending_segv.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/kernel.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/signals/restartable_wait.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

typedef int pending_function(sigset_t *set);
typedef int wait_function(const sigset_t *set, int *number);
typedef int timed_function(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);

/* The SIGSEGV that is kept for this thread, if sc_signal_mask.has_pending_segv. */
static __thread struct {
    siginfo_t info;
    unsigned generation; /* `generation`, when the signal was kept */
} pending_signal __attribute__((tls_model("initial-exec")));

/* How often the kept signals of all threads were dropped, as the program ignored SIGSEGV. A signal
 * that was kept before is no longer. */
static _Atomic unsigned generation;

/* Is a SIGSEGV kept for this thread? Forgets one that was dropped with those of all threads. */
static bool has_pending(void)
{
    if (sc_signal_mask.has_pending_segv && pending_signal.generation != atomic_load(&generation))
        sc_signal_mask.has_pending_segv = false;
    return sc_signal_mask.has_pending_segv;
}

/* Keeps a SIGSEGV that was sent to this thread, which the program has asked to block it. Another
 * one is lost then, as with a pending signal in Linux. */
void sc_pending_segv_add(const siginfo_t *info)
{
    if (has_pending())
        return;
    pending_signal.info = *info;
    pending_signal.generation = atomic_load(&generation);
    sc_signal_mask.has_pending_segv = true;
}

/* Removes the SIGSEGV that is kept for this thread, for a call that waits for it, or to be sent
 * again. False: none is kept. */
static bool take_pending(siginfo_t *info)
{
    if (!has_pending())
        return false;
    *info = pending_signal.info;
    sc_signal_mask.has_pending_segv = false;
    return true;
}

/* Sends a kept SIGSEGV to the calling thread again. */
static void send_to_self(const siginfo_t *info)
{
    sc_kernel_call(SYS_rt_tgsigqueueinfo, getpid(), sc_kernel_call(SYS_gettid), SIGSEGV, info);
}

/* Sends the kept signal to the thread again, if there is one: the program has unblocked SIGSEGV, or
 * the thread really blocks it so that the next program inherits it as pending. */
void sc_pending_segv_deliver(void)
{
    siginfo_t info;
    SC_KEEP_ERRNO();
    if (take_pending(&info))
        send_to_self(&info);
}

/* Drops the SIGSEGVs that are kept for all threads, since the program now ignores SIGSEGV: Linux
 * drops pending ones then. */
void sc_pending_segv_drop_all(void)
{
    atomic_fetch_add(&generation, 1);
}

/* If a SIGSEGV is kept for this thread, blocks all signals, and sends it again. It is then
 * delivered when the caller sets the next mask, together with other pending signals and in Linux's
 * order. The assembly of sigreturn.c calls this as well. */
void sc_pending_segv_deliver_with_mask(void)
{
    siginfo_t info;
    if (!take_pending(&info))
        return;
    sc_kernel_mask_set(~SC_KERNEL_MASK_LIBC);
    send_to_self(&info);
}

/* ---- calls that query or wait for signals ----
 *
 * Arguments are copied, so that Linux reads and writes memory of the library, which is never
 * guarded. */

/* sigpending, with the SIGSEGV that the library keeps for the thread: for Linux it is not pending.
 */
SC_EXPORT int sigpending(sigset_t *set)
{
    sigset_t pending;
    if (!sc_sharing_is_on())
        return SC_NEXT(pending_function *, "sigpending")(set);
    sigemptyset(&pending);
    int result = SC_NEXT(pending_function *, "sigpending")(&pending);
    if (result != 0)
        return result;
    if (has_pending())
        sigaddset(&pending, SIGSEGV);
    *set = pending;
    return 0;
}

/* A thread waits for the signals of this set, and a SIGSEGV is kept for it: would Linux deliver
 * that before the ones that are pending? Signals of faults come first, and of these the lowest
 * number. */
static bool comes_first(const sigset_t *set)
{
    uint64_t lower = SC_SIGNAL_BIT(SIGILL) | SC_SIGNAL_BIT(SIGTRAP) | SC_SIGNAL_BIT(SIGBUS) |
                     SC_SIGNAL_BIT(SIGFPE);
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & lower & sc_kernel_mask_of(set)) == 0;
}

/* Does a wait for this set have to look for a SIGSEGV that the library keeps? Only if the set has
 * SIGSEGV, and the program has asked to block it. */
static bool may_take_kept(const sigset_t *set)
{
    return sc_sharing_is_on() && sigismember(set, SIGSEGV) == 1 && sc_signal_mask_blocks_fault();
}

/* Does what sigtimedwait does, for a set with SIGSEGV, of which the library may keep one. Returns a
 * signal, or -errno. A SIGSEGV that is kept while the thread is about to wait is found all the
 * same: the wait is then not begun (restartable_wait.h). `none_kept`: nothing to look for, as
 * another signal comes first. The wait is a cancellation point: the cancel type is changed as glibc
 * up to 2.40 does it. */
static int wait_for_pending(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    static const bool none_kept;
    int type;
    int result;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    do {
        if (has_pending() && comes_first(set) && take_pending(info)) {
            result = SIGSEGV;
            break;
        }
        result = (int)sc_restartable_wait(
            set, info, timeout, has_pending() ? &none_kept : &sc_signal_mask.has_pending_segv);
    } while (result == SC_WAIT_NOT_BEGUN);
    pthread_setcanceltype(type, NULL);
    return result;
}

/* sigwait, which may take a SIGSEGV that the library keeps. The system call ends with EINTR when a
 * handler has run; sigwait goes on waiting. */
SC_EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t asked = *set;
    siginfo_t info;
    int taken = 0;
    int result = 0;
    if (!may_take_kept(&asked))
        result = SC_NEXT(wait_function *, "sigwait")(&asked, &taken);
    else
        do
            taken = wait_for_pending(&asked, &info, NULL);
        while (taken == -EINTR);
    if (result == 0)
        *number = taken;
    return result;
}

/* Waits for a signal of the set, which may be a SIGSEGV that the library keeps, and returns as the
 * C library's sigtimedwait does. That reports a signal of raise or pthread_kill (SI_TKILL) as one
 * of kill. */
static int wait_and_report(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    int result = wait_for_pending(set, info, timeout);
    if (result < 0) {
        errno = -result;
        return -1;
    }
    if (info->si_code == SI_TKILL)
        info->si_code = SI_USER;
    return result;
}

/* sigtimedwait, which may take a SIGSEGV that the library keeps. */
SC_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t asked = *set;
    siginfo_t taken;
    struct timespec room;
    if (timeout)
        room = *timeout;
    const struct timespec *limit = timeout ? &room : NULL;
    int result = may_take_kept(&asked)
                     ? wait_and_report(&asked, &taken, limit)
                     : SC_NEXT(timed_function *, "sigtimedwait")(&asked, &taken, limit);
    if (result > 0 && info)
        *info = taken;
    return result;
}

/* Is a sigtimedwait without a timeout, as in the C library. */
SC_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}
