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

static __thread struct {
    siginfo_t info;
    unsigned generation; /* `generation`, when the signal was kept */
} pending_signal __attribute__((tls_model("initial-exec")));

static _Atomic unsigned generation; /* how often the kept signals of all threads were dropped */

/* Is a signal kept for the thread that was not dropped since? */
static bool has_pending(void)
{
    if (sc_signal_mask.has_pending_segv && pending_signal.generation != atomic_load(&generation))
        sc_signal_mask.has_pending_segv = false;
    return sc_signal_mask.has_pending_segv;
}

/* Keeps a SIGSEGV that was sent to the thread while the program believes it blocked. */
void sc_pending_segv_add(const siginfo_t *info)
{
    if (has_pending())
        return;
    pending_signal.info = *info;
    pending_signal.generation = atomic_load(&generation);
    sc_signal_mask.has_pending_segv = true;
}

/* Removes the kept signal, for a call that waits for it, or to be sent again. */
bool sc_pending_segv_take(siginfo_t *info)
{
    if (!has_pending())
        return false;
    *info = pending_signal.info;
    sc_signal_mask.has_pending_segv = false;
    return true;
}

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
    if (sc_pending_segv_take(&info))
        send_to_self(&info);
}

void sc_pending_segv_drop_all(void)
{
    atomic_fetch_add(&generation, 1);
}

/* Sends the kept signal with all signals blocked, so that it is delivered when the caller sets a
 * mask without SIGSEGV. The assembly of sigreturn.c calls this as well. */
void sc_pending_segv_deliver_with_mask(void)
{
    siginfo_t info;
    if (!sc_pending_segv_take(&info))
        return;
    sc_kernel_mask_set(~SC_KERNEL_MASK_LIBC);
    send_to_self(&info);
}

/* ---- calls that query or wait for signals ----
 *
 * Arguments are copied, so that Linux reads and writes memory of the library, which is never
 * guarded. */

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

/* Would Linux deliver a pending SIGSEGV first of the set? Signals of faults come first, and of
 * these the lowest number. */
static bool comes_first(const sigset_t *set)
{
    uint64_t lower = SC_SIGNAL_BIT(SIGILL) | SC_SIGNAL_BIT(SIGTRAP) | SC_SIGNAL_BIT(SIGBUS) |
                     SC_SIGNAL_BIT(SIGFPE);
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & lower & sc_kernel_mask_of(set)) == 0;
}

/* Does the thread wait for a SIGSEGV that would be kept for it? */
static bool waits_for_pending(const sigset_t *set)
{
    return sc_sharing_is_on() && sigismember(set, SIGSEGV) == 1 && sc_signal_mask_blocks_fault();
}

/* sigtimedwait for a set that may have a kept SIGSEGV. Returns a signal, or -errno. A signal that
 * is kept while the thread is about to wait is found all the same (restartable_wait.h).
 *
 * The wait is a cancellation point: the cancel type is changed as glibc up to 2.40 does it.
 */
static int wait_for_pending(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    static const bool none_kept;
    int type;
    int result;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    do {
        if (has_pending() && comes_first(set) && sc_pending_segv_take(info)) {
            result = SIGSEGV;
            break;
        }
        result = (int)sc_restartable_wait(
            set, info, timeout, has_pending() ? &none_kept : &sc_signal_mask.has_pending_segv);
    } while (result == SC_WAIT_NOT_BEGUN);
    pthread_setcanceltype(type, NULL);
    return result;
}

/* The system call ends with EINTR when a handler has run; sigwait must not. */
SC_EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t asked = *set;
    siginfo_t info;
    int taken = 0;
    int result = 0;
    if (!waits_for_pending(&asked))
        result = SC_NEXT(wait_function *, "sigwait")(&asked, &taken);
    else
        do
            taken = wait_for_pending(&asked, &info, NULL);
        while (taken == -EINTR);
    if (result == 0)
        *number = taken;
    return result;
}

/* Waits, and returns as the C library does. That reports a signal of raise or pthread_kill
 * (SI_TKILL) as one of kill. */
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

SC_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t asked = *set;
    siginfo_t taken;
    struct timespec room;
    if (timeout)
        room = *timeout;
    const struct timespec *limit = timeout ? &room : NULL;
    int result = waits_for_pending(&asked)
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
