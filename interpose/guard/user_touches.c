#include "interpose/guard/user_touches.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#include "common/kernel.h"
#include "cupti_hooks/current_call.h"
#include "interpose/guard/protect.h"
#include "interpose/guard/userfaults.h"
#include "interpose/reaper/library_threads.h"
#include "interpose/signals/blocked_threads.h"
#include "interpose/signals/signals.h"
#include "track/no_verdicts.h"
#include "track/track_parts.h"

#include "common/poison.h"

/* May this thread's touch be denied, so that it raises SIGSEGV and is checked in the handler? Not
 * if the thread would die of that: it has SIGSEGV blocked, belongs to another process that shares
 * this one's memory (vfork) and has its own handlers, or the library's handler cannot be installed.
 * False: *reason says why. The handler is checked anew at each touch, as the program may have
 * replaced it. */
static bool can_deny(int32_t thread, enum sc_no_verdict_reason *reason)
{
    bool blocks = false;
    *reason = SC_NO_VERDICT_HANDLER;
    if (!sc_blocked_threads_find(thread, &blocks))
        return false;
    sc_signals_recheck_soon();
    enum sc_takeover takeover = blocks ? SC_TAKEOVER_BLOCKED : sc_signals_take_over();
    if (takeover == SC_TAKEOVER_BLOCKED)
        *reason = SC_NO_VERDICT_BLOCKED;
    return takeover == SC_TAKEOVER_DONE;
}

/* Answers a touch for which a thread waits in Linux: has it raise SIGSEGV, in whose handler it is
 * judged and may wait, or lets it succeed. If an operation guards the page, that counts as a touch
 * without a verdict. */
static void answer_touch(const struct sc_userfaults_event *event)
{
    enum sc_no_verdict_reason reason = SC_NO_VERDICT_HANDLER;
    bool denies = sc_userfaults_is_protected(event->address) && can_deny(event->thread, &reason);
    if (!sc_protect_answer_touch(event->address, denies))
        sc_no_verdicts_add(sc_track_parts.no_verdicts, SC_NO_VERDICT_TOUCHES, reason, 1);
}

/* Gives this thread a real-time priority, which its children do not inherit. False: Linux refuses.
 */
static bool set_priority(int priority)
{
    struct sched_param parameters = {.sched_priority = priority};
    return sc_kernel_call(SYS_sched_setscheduler, 0, SCHED_FIFO | SCHED_RESET_ON_FORK,
                          &parameters) == 0;
}

/* Gives this thread real-time priority: a thread with such a priority may wait for its answer, and
 * must then not wait for threads of lower priority. Linux grants that if the process may have such
 * threads (CAP_SYS_NICE, or up to RLIMIT_RTPRIO). A higher priority that was inherited stays. Not
 * under a filter of system calls, which may kill the process for asking. */
static void outrank_others(void)
{
    const int highest = 98; /* 99 is that of Linux's own threads */
    struct sched_param inherited = {.sched_priority = 0};
    struct rlimit allowed = {0};
    sc_kernel_call(SYS_sched_getparam, 0, &inherited);
    if (inherited.sched_priority >= highest || sc_kernel_is_filtered() || set_priority(highest))
        return;
    sc_kernel_call(SYS_prlimit64, 0, RLIMIT_RTPRIO, NULL, &allowed);
    if (allowed.rlim_cur > (rlim_t)inherited.sched_priority)
        set_priority((int)allowed.rlim_cur);
}

enum { FIRST_WAIT_NS = 200 * 1000 * 1000, NANOSECONDS = 1000 * 1000 * 1000 };
static _Atomic uint32_t has_begun; /* the reader has; a futex */

/* Tells the thread in await_begun that the reader runs, and whether it can answer touches is known.
 */
static void signal_begun(void)
{
    atomic_store(&has_begun, 1);
    sc_kernel_call(SYS_futex, &has_begun, FUTEX_WAKE_PRIVATE, 1);
}

/* Waits until the reader's thread runs, so that the first answer whether userfaultfd can be used
 * does not depend on how soon it does. At most FIRST_WAIT_NS (0.2 s): the thread may never get to
 * run in this process. */
static void await_begun(void)
{
    struct timespec until;
    sc_kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &until);
    until.tv_nsec += FIRST_WAIT_NS;
    until.tv_sec += until.tv_nsec / NANOSECONDS;
    until.tv_nsec %= NANOSECONDS;
    long result = 0;
    while (atomic_load(&has_begun) == 0 && (result == 0 || result == -EINTR || result == -EAGAIN))
        result = sc_kernel_call(SYS_futex, &has_begun, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
                                FUTEX_BITSET_MATCH_ANY);
}

/* The library's thread that reads touches of protected pages from userfaultfd and answers them,
 * until there are no more. Signals are blocked: no handler of the program may run here. SC_CARRY:
 * driver calls made here would be the library's, and no missed calls of the program. */
static void *run_reader(void *unused)
{
    struct sc_userfaults_event event;
    SC_CARRY();
    sc_library_threads_enter("safecopy-touch");
    sc_library_threads_block_signals();
    outrank_others();
    bool serves = sc_userfaults_start_reader();
    signal_begun();
    if (!serves)
        return unused;
    while (sc_userfaults_await(&event))
        answer_touch(&event);
    return unused;
}

/* Starts the thread that answers touches, and waits until it has begun. Without it userfaultfd is
 * given up, as touches would wait for ever. */
static void start_reader(void)
{
    if (sc_library_threads_start(run_reader, SC_LIBRARY_THREADS_SMALL))
        await_begun();
    else
        sc_userfaults_give_up();
}

/* Opens userfaultfd and starts the thread that answers touches, once. False: userfaultfd cannot be
 * used. That is asked again at the end, since the thread's start may have failed. */
bool sc_user_touches_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!sc_userfaults_begin())
        return false;
    pthread_once(&once, start_reader);
    return sc_userfaults_begin();
}
