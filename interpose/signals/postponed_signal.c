#include "interpose/signals/postponed_signal.h"

#include <stdint.h>
#include <string.h>

#include "common/kernel.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/signals/signal_mask.h"

#include "common/poison.h"

/* The signals that are postponed while the thread is within a lock of the library. Not those of
 * faults, nor the C library's own two, whose handlers return soon. */
#define POSTPONED (SC_KERNEL_MASK_ALL_BUT_FAULTS & ~SC_KERNEL_MASK_LIBC)

/* FIRST_REAL_TIME: the first real-time signal. PLACE: a value of si_errno, which Linux does not
 * use, in the signal that is sent in place of the one in postponed.ahead (send_in_order). */
enum { FIRST_REAL_TIME = 32, PLACE = 0x5afec0 };

__thread int sc_postponed_signal_ahead;

static __thread struct {
    uint64_t mask_outside; /* the mask that the thread gets when it has left the lock */
    siginfo_t ahead;       /* of signal sc_postponed_signal_ahead: the next one to be handled */
} postponed __attribute__((tls_model("initial-exec")));

/* Called when the thread has left its last lock of the library: unblocks the signals that were
 * postponed. Linux delivers them, in its order, before the system call returns. */
static void unblock_postponed(void)
{
    sc_library_lock_on_leave = NULL;
    sc_signal_mask_note_kernel_mask(postponed.mask_outside);
    sc_kernel_mask_set(postponed.mask_outside);
}

/* Sends the signal to the calling thread again, where it is pending until it is unblocked. False:
 * Linux refuses. */
static bool send_to_self(int number, const siginfo_t *info)
{
    return sc_kernel_call(SYS_rt_tgsigqueueinfo, sc_kernel_call(SYS_getpid),
                          sc_kernel_call(SYS_gettid), number, info) == 0;
}

/* Sends a postponed signal to this thread again. A real-time signal would then come after pending
 * ones of its number, which were sent later. So it is stored in `ahead`, and a signal with PLACE is
 * sent in its stead, by which the last in the queue is recognised. Of any other signal at most one
 * is pending. One real-time signal at a time is stored. False: Linux refuses. */
static bool send_in_order(int number, const siginfo_t *info)
{
    if (number < FIRST_REAL_TIME || sc_postponed_signal_ahead)
        return send_to_self(number, info);
    siginfo_t place = *info;
    place.si_errno = PLACE;
    if (!send_to_self(number, &place))
        return false;
    postponed.ahead = *info;
    sc_postponed_signal_ahead = number;
    return true;
}

/* Swaps the real-time signal that came now for the one that was postponed before it, so that they
 * are handled in the order in which they were sent. The last in the queue is PLACE, which stands
 * for the postponed one itself: then there is none left. */
void sc_postponed_signal_take_turn(siginfo_t *info)
{
    siginfo_t came = *info;
    *info = postponed.ahead;
    postponed.ahead = came;
    if (came.si_errno == PLACE)
        sc_postponed_signal_ahead = 0;
}

/* In a forked child: no signal is postponed there. */
void sc_postponed_signal_child(void)
{
    sc_postponed_signal_ahead = 0;
}

/* Postpones a signal that has come while the thread is within a lock of the library, in the handler
 * that interrupted `context`: sends it again, and has the thread go on with signals blocked until
 * it has left the lock. False: it is handled now, as it is of a fault or the C library's own, or
 * Linux refuses. Of several signals that come at once the last call here is for the outermost
 * frame, which has the thread's mask: so mask_outside is the right one in the end. */
bool sc_postponed_signal_put(int number, const siginfo_t *info, ucontext_t *context)
{
    uint64_t outside = sc_kernel_mask_of(&context->uc_sigmask);
    if (!(POSTPONED & SC_SIGNAL_BIT(number)))
        return false;
    uint64_t before = sc_kernel_mask_block(POSTPONED);
    if (!send_in_order(number, info)) {
        sc_kernel_mask_set(before);
        return false;
    }
    uint64_t inside = outside | POSTPONED;
    postponed.mask_outside = outside;
    memcpy(&context->uc_sigmask, &inside, sizeof inside);
    sc_library_lock_on_leave = unblock_postponed;
    return true;
}
