#include "interpose/signals/kept_signal.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"
#include "track/kernel.h"

#include "track/poison.h"

typedef int pending_function(sigset_t *set);
typedef int wait_function(const sigset_t *set, int *number);
typedef int info_function(const sigset_t *set, siginfo_t *info);
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
    int saved = errno;
    if (sc_kept_signal_take(&info))
        queue(&info);
    errno = saved;
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

static bool takes_kept(const sigset_t *set, siginfo_t *info)
{
    return sc_sharing_is_on() && sigismember(set, SIGSEGV) == 1 && is_there() && comes_first(set) &&
           sc_kept_signal_take(info);
}

SC_EXPORT int sigwait(const sigset_t *set, int *number)
{
    sigset_t asked = *set;
    siginfo_t info;
    int taken = SIGSEGV;
    int result =
        takes_kept(&asked, &info) ? 0 : SC_NEXT(wait_function *, "sigwait")(&asked, &taken);
    if (result == 0)
        *number = taken;
    return result;
}

/* The C library tells of raise and pthread_kill as of kill here. */
static void tell(siginfo_t *info, const siginfo_t *taken)
{
    *info = *taken;
    if (info->si_code == SI_TKILL)
        info->si_code = SI_USER;
}

#define WAIT(type, name, ...)                                                                      \
    do {                                                                                           \
        sigset_t asked_ = *set;                                                                    \
        siginfo_t taken_;                                                                          \
        int result_ = takes_kept(&asked_, &taken_)                                                 \
                          ? SIGSEGV                                                                \
                          : SC_NEXT(type *, name)(&asked_, &taken_ __VA_ARGS__);                   \
        if (result_ > 0 && info)                                                                   \
            tell(info, &taken_);                                                                   \
        return result_;                                                                            \
    } while (0)

SC_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    WAIT(info_function, "sigwaitinfo", );
}

SC_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    struct timespec room;
    if (timeout)
        room = *timeout;
    const struct timespec *limit = timeout ? &room : NULL;
    WAIT(timed_function, "sigtimedwait", , limit);
}
