/* sigaction and its kin: the program's action for SIGSEGV is kept by us (interpose/signals.h), the
 * masks of other handlers do not block it, and handlers return by way of us (sigreturn.h). */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "interpose/driver.h"
#include "interpose/kernel_mask.h"
#include "interpose/loader.h"
#include "interpose/signal_mask.h"
#include "interpose/signals.h"
#include "interpose/sigreturn.h"

#include "track/poison.h"

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef sighandler_t signal_function(int number, sighandler_t handler);
typedef int interrupt_function(int number, int interrupts);
typedef int ignore_function(int number);

/* The child of a vfork changes its own actions, and must not leave word of them with its parent. */
static bool passes_through(void)
{
    return !sc_signals_are_on() || sc_signals_is_vfork_child();
}

/* ---- other signals ---- */

/* By signal: the program's mask for its handler has SIGSEGV, the kernel's has not. */
static _Atomic uint64_t masks_fault;

static uint64_t bit_of(int number)
{
    return number > 0 && number <= 64 ? SC_SIGNAL_BIT(number) : 0;
}

static int change_other_locked(int number, const struct sigaction *action, struct sigaction *old)
{
    sigaction_function *real = SC_NEXT(sigaction_function *, "sigaction");
    bool had = atomic_load(&masks_fault) & bit_of(number);
    bool has = action && sigismember(&action->sa_mask, SIGSEGV) == 1;
    struct sigaction without;
    if (has) {
        without = *action;
        sigdelset(&without.sa_mask, SIGSEGV);
    }
    int result = real(number, has ? &without : action, old);
    if (result != 0)
        return result;
    if (old && had)
        sigaddset(&old->sa_mask, SIGSEGV);
    if (has)
        atomic_fetch_or(&masks_fault, bit_of(number));
    else if (action)
        atomic_fetch_and(&masks_fault, ~bit_of(number));
    if (action)
        sc_sigreturn_adopt(number);
    return 0;
}

static int change(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sc_signals_lock lock = sc_signals_lock();
    int result = number == SIGSEGV ? sc_signals_change(action, old)
                                   : change_other_locked(number, action, old);
    sc_signals_unlock(&lock);
    return result;
}

/* The program's memory is touched outside of the lock, where its handler may leave us. */
SC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction next;
    struct sigaction before;
    if (bit_of(number) == 0 || passes_through())
        return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
    if (action)
        next = *action;
    int result = change(number, action ? &next : NULL, old ? &before : NULL);
    if (result == 0 && old)
        *old = before;
    return result;
}

SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

/* ---- what is older than sigaction ---- */

/* Signals for which siginterrupt was called, as glibc keeps them for signal(). */
static _Atomic uint64_t interrupts;

static sighandler_t set_fault_handler(sighandler_t handler, int flags)
{
    struct sigaction old;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, SIGSEGV);
    if ((flags & SA_RESTART) && (atomic_load(&interrupts) & bit_of(SIGSEGV)))
        action.sa_flags &= ~(int)SA_RESTART;
    return sigaction(SIGSEGV, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t set_other_handler(signal_function *real, int number, sighandler_t handler)
{
    struct sc_signals_lock lock = sc_signals_lock();
    sighandler_t before = real(number, handler);
    if (before != SIG_ERR) {
        atomic_fetch_and(&masks_fault, ~bit_of(number));
        sc_sigreturn_adopt(number);
    }
    sc_signals_unlock(&lock);
    return before;
}

#define SIGNAL(name, flags)                                                                        \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler);                                 \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler)                                  \
    {                                                                                              \
        signal_function *real = SC_NEXT(signal_function *, #name);                                 \
        if (handler == SIG_ERR || passes_through())                                                \
            return real(number, handler);                                                          \
        return number == SIGSEGV ? set_fault_handler(handler, flags)                               \
                                 : set_other_handler(real, number, handler);                       \
    }

SIGNAL(signal, SA_RESTART)
SIGNAL(bsd_signal, SA_RESTART)
SIGNAL(ssignal, SA_RESTART)
SIGNAL(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
SIGNAL(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

/* Blocks, or sets a handler and unblocks. */
static sighandler_t sigset_fault(sighandler_t handler)
{
    struct sigaction old;
    struct sigaction action;
    bool was_blocked = sc_signal_mask_blocks_fault();
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    if (sigaction(SIGSEGV, handler == SIG_HOLD ? NULL : &action, &old) != 0)
        return SIG_ERR;
    sc_signal_mask_set_fault(handler == SIG_HOLD);
    return was_blocked ? SIG_HOLD : old.sa_handler;
}

SC_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    signal_function *real = SC_NEXT(signal_function *, "sigset");
    if (handler == SIG_ERR || passes_through())
        return real(number, handler);
    if (number == SIGSEGV)
        return sigset_fault(handler);
    return handler == SIG_HOLD ? real(number, handler) : set_other_handler(real, number, handler);
}

SC_EXPORT int sigignore(int number)
{
    struct sigaction action;
    if (number != SIGSEGV || passes_through())
        return SC_NEXT(ignore_function *, "sigignore")(number);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    return sigaction(number, &action, NULL);
}

static int interrupt_fault(int interrupting)
{
    struct sigaction action;
    if (sigaction(SIGSEGV, NULL, &action) != 0)
        return -1;
    if (interrupting)
        action.sa_flags &= ~(int)SA_RESTART;
    else
        action.sa_flags |= (int)SA_RESTART;
    return sigaction(SIGSEGV, &action, NULL);
}

static int interrupt_other(int number, int interrupting)
{
    struct sc_signals_lock lock = sc_signals_lock();
    int result = SC_NEXT(interrupt_function *, "siginterrupt")(number, interrupting);
    if (result == 0)
        sc_sigreturn_adopt(number);
    sc_signals_unlock(&lock);
    return result;
}

SC_EXPORT int siginterrupt(int number, int interrupting)
{
    if (passes_through())
        return SC_NEXT(interrupt_function *, "siginterrupt")(number, interrupting);
    int result =
        number == SIGSEGV ? interrupt_fault(interrupting) : interrupt_other(number, interrupting);
    if (result == 0 && interrupting)
        atomic_fetch_or(&interrupts, bit_of(number));
    else if (result == 0)
        atomic_fetch_and(&interrupts, ~bit_of(number));
    return result;
}
