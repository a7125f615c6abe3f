#include "interpose/signals/postponed_signal.h"

#include <stdint.h>
#include <string.h>

#include "common/kernel.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

/* Those that wait for the end of a lock. The C library's own end soon. */
#define POSTPONED (SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_LIBRARYS)

/* In si_errno, which Linux does not use: the place of one that has been put ahead. */
enum { FIRST_REAL_TIME = 32, PLACE = 0x5afec0 };

__thread int sc_postponed_signal_ahead;

static __thread struct {
    uint64_t mask_outside; /* that the thread is to have outside of the lock */
    siginfo_t ahead;
} postponed __attribute__((tls_model("initial-exec")));

/* The kernel delivers what is pending, in its order, before the system call is back. */
static void let_come(void)
{
    sc_own_lock_left = NULL;
    sc_signal_mask_note_kernels(postponed.mask_outside);
    sc_kernel_mask_set(postponed.mask_outside);
}

static bool send(int number, const siginfo_t *info)
{
    return sc_kernel_call(SYS_rt_tgsigqueueinfo, sc_kernel_call(SYS_getpid),
                          sc_kernel_call(SYS_gettid), number, info) == 0;
}

/* A real-time signal comes behind others of its number. Of any other signal at most one is
 * pending. */
static bool send_again(int number, const siginfo_t *info)
{
    if (number < FIRST_REAL_TIME || sc_postponed_signal_ahead)
        return send(number, info);
    siginfo_t place = *info;
    place.si_errno = PLACE;
    if (!send(number, &place))
        return false;
    postponed.ahead = *info;
    sc_postponed_signal_ahead = number;
    return true;
}

void sc_postponed_signal_take_turn(siginfo_t *info)
{
    siginfo_t came = *info;
    *info = postponed.ahead;
    postponed.ahead = came;
    if (came.si_errno == PLACE)
        sc_postponed_signal_ahead = 0;
}

void sc_postponed_signal_child(void)
{
    sc_postponed_signal_ahead = 0;
}

/* Several signals that were pending come with a frame each, the innermost first: the outermost has
 * the thread's mask. */
bool sc_postponed_signal_put(int number, const siginfo_t *info, ucontext_t *context)
{
    uint64_t outside = sc_kernel_mask_of(&context->uc_sigmask);
    if (!(POSTPONED & SC_SIGNAL_BIT(number)))
        return false;
    uint64_t before = sc_kernel_mask_block(POSTPONED);
    if (!send_again(number, info)) {
        sc_kernel_mask_set(before);
        return false;
    }
    uint64_t inside = outside | POSTPONED;
    postponed.mask_outside = outside;
    memcpy(&context->uc_sigmask, &inside, sizeof inside);
    sc_own_lock_left = let_come;
    return true;
}
