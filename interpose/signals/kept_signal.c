#include "interpose/signals/kept_signal.h"

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
    unsigned age;
} held __attribute__((tls_model("initial-exec")));

static _Atomic unsigned age; /* how often all were forgotten */

static bool is_there(void)
{
    if (sc_signal_mask.keeps_one && held.age != atomic_load(&age))
        sc_signal_mask.keeps_one = false;
    return sc_signal_mask.keeps_one;
}

void sc_kept_signal_put(const siginfo_t *info)
{
    if (is_there())
        return;
    held.info = *info;
    held.age = atomic_load(&age);
    sc_signal_mask.keeps_one = true;
}

bool sc_kept_signal_take(siginfo_t *info)
{
    if (!is_there())
        return false;
    *info = held.info;
    sc_signal_mask.keeps_one = false;
    return true;
}

static void queue(const siginfo_t *info)
{
    sc_kernel_call(SYS_rt_tgsigqueueinfo, getpid(), sc_kernel_call(SYS_gettid), SIGSEGV, info);
}

void sc_kept_signal_deliver(void)
{
    siginfo_t info;
    SC_KEEP_ERRNO();
    if (sc_kept_signal_take(&info))
        queue(&info);
}

void sc_kept_signal_forget(void)
{
    atomic_fetch_add(&age, 1);
}

/* Called by sigreturn.c as well. */
void sc_kept_signal_come_with_mask(void)
{
    siginfo_t info;
    if (!sc_kept_signal_take(&info))
        return;
    sc_kernel_mask_set(~SC_KERNEL_MASK_LIBRARYS);
    queue(&info);
}

/* ---- calls that ask or wait for signals ----
 *
 * The kernel reads and writes memory of ours, which is never guarded. */

SC_EXPORT int sigpending(sigset_t *set)
{
    sigset_t pending;
    if (!sc_sharing_is_on())
        return SC_NEXT(pending_function *, "sigpending")(set);
    sigemptyset(&pending);
    int result = SC_NEXT(pending_function *, "sigpending")(&pending);
    if (result != 0)
        return result;
    if (is_there())
        sigaddset(&pending, SIGSEGV);
    *set = pending;
    return 0;
}

/* Signals of faults come first, and of these the lowest. */
static bool comes_first(const sigset_t *set)
{
    uint64_t lower = SC_SIGNAL_BIT(SIGILL) | SC_SIGNAL_BIT(SIGTRAP) | SC_SIGNAL_BIT(SIGBUS) |
                     SC_SIGNAL_BIT(SIGFPE);
    uint64_t pending = 0;
    sc_kernel_call(SYS_rt_sigpending, &pending, sizeof pending);
    return (pending & lower & sc_kernel_mask_of(set)) == 0;
}

/* Does the thread wait for a SIGSEGV that would be kept for it? */
static bool waits_for_kept(const sigset_t *set)
{
    return sc_sharing_is_on() && sigismember(set, SIGSEGV) == 1 && sc_signal_mask_blocks_fault();
}

/* As the system call: what it returns is a signal, or -errno. A signal that is kept while the
 * thread is about to wait is found all the same (restartable_wait.h).
 *
 * A point where the thread may be cancelled, by what is the C library's own way up to 2.40. */
static int wait_for_kept(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    static const bool none_kept;
    int type;
    int result;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    do {
        if (is_there() && comes_first(set) && sc_kept_signal_take(info)) {
            result = SIGSEGV;
            break;
        }
        result = (int)sc_restartable_wait(set, info, timeout,
                                          is_there() ? &none_kept : &sc_signal_mask.keeps_one);
    } while (result == SC_WAIT_NOT_BEGUN);
    pthread_setcanceltype(type, NULL);
    return result;
}

/* Handlers of other signals end the system call, but not this one. */
SC_EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t asked = *set;
    siginfo_t info;
    int taken = 0;
    int result = 0;
    if (!waits_for_kept(&asked))
        result = SC_NEXT(wait_function *, "sigwait")(&asked, &taken);
    else
        do
            taken = wait_for_kept(&asked, &info, NULL);
        while (taken == -EINTR);
    if (result == 0)
        *number = taken;
    return result;
}

/* The C library tells of raise and pthread_kill as of kill here. */
static int wait_and_tell(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    int result = wait_for_kept(set, info, timeout);
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
    int result = waits_for_kept(&asked)
                     ? wait_and_tell(&asked, &taken, limit)
                     : SC_NEXT(timed_function *, "sigtimedwait")(&asked, &taken, limit);
    if (result > 0 && info)
        *info = taken;
    return result;
}

/* In the C library it is the same. */
SC_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}
