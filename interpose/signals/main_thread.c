#include "interpose/signals/main_thread.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/kernel.h"
#include "common/text.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/process.h"
#include "report/file.h"

#include "common/poison.h"

enum { STATUS_BYTES = 1400, PAUSE_NS = 20 * 1000, WAIT_NS = 200 * 1000 * 1000 };

/* Values of si_errno, which Linux does not use, in a signal that was sent on: it came by kill, or
 * from Linux. The codes of both may not be sent to another thread. */
enum { WAS_USERS = 0x5afec1, WAS_KERNELS = 0x5afec2 };

/* Signals that may be meant for one thread: because it caused them, used up its time, owns the
 * file, or has the child. */
#define OF_THREADS                                                                                 \
    (~SC_KERNEL_MASK_ALL_BUT_FAULTS | SC_SIGNAL_BIT(SIGPIPE) | SC_SIGNAL_BIT(SIGXFSZ) |            \
     SC_SIGNAL_BIT(SIGPROF) | SC_SIGNAL_BIT(SIGVTALRM) | SC_SIGNAL_BIT(SIGXCPU) |                  \
     SC_SIGNAL_BIT(SIGIO) | SC_SIGNAL_BIT(SIGURG) | SC_SIGNAL_BIT(SIGCHLD))

/* While the library blocks signals on the main thread: those that the main thread has unblocked
 * otherwise, and IS_KEPT (the bit of SIGKILL, which nobody blocks). 0: it blocks none there. */
#define IS_KEPT SC_SIGNAL_BIT(SIGKILL)
static _Atomic uint64_t would_accept;

static _Atomic int32_t process; /* its id, and the main thread's; 0: not known yet */

/* Returns the id of the main thread, which is the process's. Asked of Linux once, as handlers need
 * it often. */
static int32_t main_thread(void)
{
    int32_t number = atomic_load_explicit(&process, memory_order_relaxed);
    if (number == 0) {
        number = (int32_t)sc_kernel_call(SYS_getpid);
        atomic_store_explicit(&process, number, memory_order_relaxed);
    }
    return number;
}

/* Is the calling thread the main one, which Linux prefers for signals to the process? */
static bool is_main_thread(void)
{
    return sc_thread_id() == main_thread();
}

/* Records that the library blocks signals on this thread for a moment, in a handler that
 * interrupted `context`. Of the main thread, records which ones that had unblocked: Linux delivers
 * these to another thread now, which has to forward them. */
void sc_main_thread_note_blocked(const ucontext_t *context)
{
    if (is_main_thread())
        atomic_store(&would_accept, ~sc_kernel_mask_of(&context->uc_sigmask) | IS_KEPT);
}

/* Records that the library no longer blocks signals on this thread, if that is the main one. */
void sc_main_thread_note_unblocked(void)
{
    if (is_main_thread())
        atomic_store(&would_accept, 0);
}

/* In a forked child: the calling thread is the main one, and the library blocks no signals there.
 */
void sc_main_thread_child(void)
{
    atomic_store(&process, 0);
    atomic_store(&would_accept, 0);
}

/* ---- what another thread has taken ---- */

/* Was the signal certainly sent to the process, as by kill, alarm or a terminal? Any other may be
 * meant for one thread, and is not forwarded. */
static bool is_sent_to_process(int number, const siginfo_t *info)
{
    return !(OF_THREADS & SC_SIGNAL_BIT(number)) &&
           (info->si_code == SI_USER || info->si_code == SI_KERNEL);
}

/* Reads /proc's status of the main thread, with its state and mask; "" if that has ended. */
static void read_status(char *status)
{
    char path[64];
    struct sc_text put = sc_text_in(path, sizeof path);
    sc_text_format(&put, "/proc/self/task/%lu/status", (uint64_t)main_thread());
    long size = sc_file_read(path, status, STATUS_BYTES - 1);
    status[size > 0 ? size : 0] = '\0';
}

enum answer { NO, YES, SOON };

/* Reads from /proc whether the main thread has the signal unblocked, and so would have got it. NO
 * also if the thread has ended: a signal sent to it would be lost. SOON: it is in the library,
 * about to enter or to leave it, which shows in signal 32 being blocked: no mask call of glibc does
 * that.
 */
static enum answer read_from_proc(uint64_t signal)
{
    static const char state_words[] = "\nState:\t";
    static const char mask_words[] = "\nSigBlk:\t";
    char status[STATUS_BYTES];
    read_status(status);
    const char *state = strstr(status, state_words);
    const char *blocked = strstr(status, mask_words);
    if (!state || !blocked || strchr("ZX", state[sizeof state_words - 1]))
        return NO;
    uint64_t mask = strtoull(blocked + sizeof mask_words - 1, NULL, 16);
    if (!(mask & signal))
        return YES;
    return mask & SC_SIGNAL_BIT(32) ? SOON : NO;
}

/* Would the main thread have the signal unblocked without the library? Goes by what the library has
 * recorded of the moment in which it blocks signals there, else by /proc. Between the two, while
 * the thread enters or leaves the library, waits (on a loaded machine that may be long), 0.2 s at
 * most.
 */
static bool accepts_signal(uint64_t signal)
{
    for (long waited_ns = 0, pause_ns = PAUSE_NS; waited_ns < WAIT_NS; pause_ns *= 2) {
        uint64_t kept = atomic_load(&would_accept);
        enum answer answer = !kept ? read_from_proc(signal) : kept & signal ? YES : NO;
        if (answer != SOON)
            return answer == YES;
        const struct timespec pause = {.tv_nsec = pause_ns};
        sc_kernel_call(SYS_nanosleep, &pause, NULL);
        waited_ns += pause_ns;
    }
    return false;
}

/* Sends to the main thread a signal that another thread has got. False: Linux refuses. Linux lets
 * no process send a signal with the si_code of kill or of Linux itself to a thread, so si_errno
 * carries that, and sc_main_thread_restore puts it back. */
bool sc_main_thread_send(int number, const siginfo_t *info)
{
    siginfo_t sent = *info;
    if (info->si_code == SI_USER || info->si_code == SI_KERNEL) {
        sent.si_errno = info->si_code == SI_USER ? WAS_USERS : WAS_KERNELS;
        sent.si_code = SI_QUEUE;
    }
    int32_t thread = main_thread();
    return sc_kernel_call(SYS_rt_tgsigqueueinfo, thread, thread, number, &sent) == 0;
}

/* Called by another thread's handler: sends the signal on to the main thread if it was sent to the
 * process, and the main thread would have got it had the library not blocked it there for a moment.
 * True: the handler returns at once. */
bool sc_main_thread_forward(int number, const siginfo_t *info)
{
    return is_sent_to_process(number, info) && !is_main_thread() &&
           accepts_signal(SC_SIGNAL_BIT(number)) && sc_main_thread_send(number, info);
}

/* Puts the original si_code back into a signal that another thread has sent on (by kill, or by
 * Linux), before the program's handler sees it. Leaves others alone. */
void sc_main_thread_restore(siginfo_t *info)
{
    if (info->si_errno != WAS_USERS && info->si_errno != WAS_KERNELS)
        return;
    info->si_code = info->si_errno == WAS_USERS ? SI_USER : SI_KERNEL;
    info->si_errno = 0;
}
