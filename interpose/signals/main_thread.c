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

/* The signals that the main thread would not block, if the library did not block them there.
 * IS_KEPT (the bit of SIGKILL, which nobody blocks): the library blocks them; 0: it does not. */
#define IS_KEPT SC_SIGNAL_BIT(SIGKILL)
static _Atomic uint64_t would_accept;

static _Atomic int32_t process; /* its id, and the main thread's; 0: not known yet */

/* Returns the id of the main thread, which is the process's. It is kept, as handlers need it often.
 */
static int32_t main_thread(void)
{
    int32_t number = atomic_load_explicit(&process, memory_order_relaxed);
    if (number == 0) {
        number = (int32_t)sc_kernel_call(SYS_getpid);
        atomic_store_explicit(&process, number, memory_order_relaxed);
    }
    return number;
}

static bool is_main_thread(void)
{
    return sc_thread_id() == main_thread();
}

/* Remembers which signals the main thread would accept if the library had not blocked them for a
 * moment. */
void sc_main_thread_note_blocked(const ucontext_t *context)
{
    if (is_main_thread())
        atomic_store(&would_accept, ~sc_kernel_mask_of(&context->uc_sigmask) | IS_KEPT);
}

void sc_main_thread_note_unblocked(void)
{
    if (is_main_thread())
        atomic_store(&would_accept, 0);
}

void sc_main_thread_child(void)
{
    atomic_store(&process, 0);
    atomic_store(&would_accept, 0);
}

/* ---- what another thread has taken ---- */

/* Was the signal sent to the process, as by kill, alarm or a terminal? Any other may have been sent
 * to a thread. */
static bool is_sent_to_process(int number, const siginfo_t *info)
{
    return !(OF_THREADS & SC_SIGNAL_BIT(number)) &&
           (info->si_code == SI_USER || info->si_code == SI_KERNEL);
}

/* Reads the status of the main thread; "" if that has ended. A signal sent to an ended thread would
 * be lost. */
static void read_status(char *status)
{
    char path[64];
    struct sc_text put = sc_text_in(path, sizeof path);
    sc_text_format(&put, "/proc/self/task/%lu/status", (uint64_t)main_thread());
    long size = sc_file_read(path, status, STATUS_BYTES - 1);
    status[size > 0 ? size : 0] = '\0';
}

enum answer { NO, YES, SOON };

/* Reads from /proc whether the main thread has the signal unblocked. SOON: it is in the library,
 * about to enter it or about to leave it. Then signal 32 is blocked, which no mask call of the C
 * library does. */
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

/* Does the main thread have the signal unblocked? Waits while it enters or leaves the library,
 * which may take long on a loaded machine. */
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

/* Sends to the main thread a signal that another thread has got. Linux lets no process send a
 * signal with the si_code of kill or of Linux itself, so si_errno carries that. */
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

bool sc_main_thread_forward(int number, const siginfo_t *info)
{
    return is_sent_to_process(number, info) && !is_main_thread() &&
           accepts_signal(SC_SIGNAL_BIT(number)) && sc_main_thread_send(number, info);
}

/* Restores the signal's origin in the main thread. */
void sc_main_thread_restore(siginfo_t *info)
{
    if (info->si_errno != WAS_USERS && info->si_errno != WAS_KERNELS)
        return;
    info->si_code = info->si_errno == WAS_USERS ? SI_USER : SI_KERNEL;
    info->si_errno = 0;
}
