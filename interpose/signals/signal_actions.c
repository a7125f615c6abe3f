/* sigaction and its kin, each as far as it is shared (sharing.h). The handlers of other signals
 * than SIGSEGV are entered by way of us, which is what the kernel has. Once SIGSEGV is shared the
 * program's action for SIGSEGV is kept by us (signals.h), the masks of other handlers do not really
 * block SIGSEGV, and what the thread believes of SIGSEGV is in the frame that they find and return
 * to (sigreturn.h). What is read back is what was set. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "common/checks.h"
#include "common/frames.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/base/process.h"
#include "interpose/base/sanitizers.h"
#include "interpose/signals/main_thread.h"
#include "interpose/signals/postponed_signal.h"
#include "interpose/signals/restartable_wait.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/signals.h"
#include "interpose/signals/sigreturn.h"
#include "interpose/signals/single_step.h"
#include "interpose/signals/upwards.h"
#include "report/file.h"

#include "common/poison.h"

enum { SIGNALS = 64, SA_OLD_INTERRUPT = 0x20000000, STEP_LOOKS = 100 * 1000 };

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef sighandler_t signal_function(int number, sighandler_t handler);
typedef int number_function(int number);
typedef int interrupt_function(int number, int interrupting);
typedef void handler_function(int number, siginfo_t *info, void *context);

static uint64_t bit_of(int number)
{
    return number > 0 && number <= SIGNALS ? SC_SIGNAL_BIT(number) : 0;
}

static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

/* ---- the handlers of other signals ---- */

/* By signal: the last handler that the program set, which may be about to be called, and what of
 * its action the kernel does not have. */
static _Atomic(handler_function *) handlers[SIGNALS + 1];
static _Atomic uint64_t masks_fault, wants_no_info, resets;

static bool is_in(const _Atomic uint64_t *signals, int number)
{
    return atomic_load_explicit(signals, memory_order_relaxed) & bit_of(number);
}

static void put_in(_Atomic uint64_t *signals, int number, bool is_member)
{
    if (is_member)
        atomic_fetch_or(signals, bit_of(number));
    else
        atomic_fetch_and(signals, ~bit_of(number));
}

static void enter(int number, siginfo_t *info, void *context);
static void enter_compared(int number, siginfo_t *info, void *context);

/* Where an interrupted context goes on, and the first and the third argument of a function that it
 * has not yet begun. */
#if defined(__x86_64__)
#define PC(context) (context)->uc_mcontext.gregs[REG_RIP]
#define FIRST(context) (context)->uc_mcontext.gregs[REG_RDI]
#define THIRD(context) (context)->uc_mcontext.gregs[REG_RDX]
#else
#define PC(context) (context)->uc_mcontext.pc
#define FIRST(context) (context)->uc_mcontext.regs[0]
#define THIRD(context) (context)->uc_mcontext.regs[2]
#endif

/* The signal whose handler the interrupted context has not yet begun, or 0. */
static int about_to_enter(const ucontext_t *context)
{
    uintptr_t at = (uintptr_t)PC(context);
    return at == (uintptr_t)enter || at == (uintptr_t)enter_compared ? (int)FIRST(context) : 0;
}

/* The innermost of handlers that come at once runs first. The outermost frame has the thread's
 * mask, the others those of handlers. */
void sc_signals_compare_mask(ucontext_t *context)
{
    while ((uintptr_t)PC(context) == (uintptr_t)enter) {
        PC(context) = (__typeof__(PC(context)))(uintptr_t)enter_compared;
        context = (ucontext_t *)(uintptr_t)THIRD(context);
    }
    if ((uintptr_t)PC(context) != (uintptr_t)enter_compared)
        sc_signal_mask_compare(sc_kernel_mask_of(&context->uc_sigmask));
}

bool sc_signals_is_about_to_enter(const ucontext_t *context)
{
    return about_to_enter(context) != 0;
}

bool sc_signals_is_about_to_block(const ucontext_t *context)
{
    return is_in(&masks_fault, about_to_enter(context));
}

/* The handler finds in its frame what the thread believes, and runs under the program's mask. A
 * handler that was entered before SIGSEGV was shared may have it really blocked. */
static void believe(int number, ucontext_t *context, struct sc_frame frame)
{
    bool blocked = sc_signal_mask_blocks_fault_above(frame.place);
    sc_signal_mask_say_in_frame(context, blocked, sc_signals_is_about_to_enter(context));
    if (blocked)
        sc_signal_mask_note_kernels(sc_kernel_mask_block(0));
    else if (is_in(&masks_fault, number))
        sc_signal_mask_block_fault(frame, sc_kernel_mask_block(0));
    sc_signal_mask.keeps_one |= sc_signal_mask.keeps_for_handler;
    sc_signal_mask.keeps_for_handler = false;
}

/* For a moment behind sigaction a handler returns by the C library's way, to which nothing may be
 * told. ThreadSanitizer's library is between the kernel and us: it calls handlers with every signal
 * really blocked, at once or behind a later call, and sets the mask of before when they return. */
static handler_function *prepare(int number, ucontext_t *context, struct sc_frame frame)
{
    if (sc_sigreturn_leads_back(frame.caller)) {
        if (sc_sharing_is_on())
            believe(number, context, frame);
        sc_inside_interrupt(frame);
    } else if (sc_sharing_is_on() && sc_sanitizers_see_threads()) {
        sc_kernel_mask_unblock(SC_SIGNAL_BIT(SIGSEGV));
    }
    return atomic_load_explicit(&handlers[number], memory_order_acquire);
}

/* Is it sent once more, to be handled later or by another thread? The way back takes what is
 * believed out of the frame. */
static bool send_on(int number, siginfo_t *info, ucontext_t *context, struct sc_frame frame)
{
    if (!sc_sigreturn_leads_back(frame.caller) || is_in(&resets, number) ||
        !(sc_postponed_signal_is_due() ? sc_postponed_signal_put(number, info, context)
                                       : sc_main_thread_takes(number, info)))
        return false;
    if (SC_SIGRETURN_IS_OURS && sc_signal_mask_blocks_fault())
        sigaddset(&context->uc_sigmask, SIGSEGV);
    return true;
}

/* NULL: it is sent on. */
static handler_function *answer(int number, siginfo_t *info, ucontext_t *context,
                                struct sc_frame frame)
{
    sc_single_step_cancel(context);
    sc_restartable_wait_restart(context);
    sc_main_thread_restore(info);
    if (sc_unlikely(sc_postponed_signal_is_due() || sc_sharing_is_on()) &&
        send_on(number, info, context, frame))
        return NULL;
    if (sc_unlikely(number == sc_postponed_signal_ahead))
        sc_postponed_signal_take_turn(info);
    return prepare(number, context, frame);
}

/* The program's handler is left by a tail call: it stands where the kernel would have put it. */
static inline __attribute__((always_inline)) void call(int number, siginfo_t *info, void *context,
                                                       struct sc_frame frame)
{
    handler_function *handler = answer(number, info, context, frame);
    if (!handler)
        return;
    handler(number, info, context);
#if !SC_SIGRETURN_IS_OURS
    sc_inside_resume(frame);
    sc_signal_mask_take_from(context);
#endif
}

static void enter(int number, siginfo_t *info, void *context)
{
    if (sc_sigreturn_leads_back(SC_FRAME().caller))
        sc_signals_compare_mask(context);
    call(number, info, context, SC_FRAME());
}

/* The entry of a handler whose first instruction another one has interrupted, which has looked. */
static void enter_compared(int number, siginfo_t *info, void *context)
{
    call(number, info, context, SC_FRAME());
}

/* ---- sigaction ---- */

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* What the kernel has of an action, whose handler it may have reset. */
static bool is_of_ours(const struct sigaction *found)
{
    const int reset = SA_SIGINFO | (int)SA_RESETHAND;
    return ((found->sa_flags & SA_SIGINFO) && found->sa_sigaction == enter) ||
           (found->sa_handler == SIG_DFL && (found->sa_flags & reset) == reset);
}

static void tell_as_set(int number, struct sigaction *found, handler_function *handler,
                        bool masked_fault, bool wanted_no_info)
{
    if (number == SIGSEGV) {
        sc_signals_tell_as_set(found);
    } else if (is_of_ours(found)) {
        if (found->sa_handler != SIG_DFL)
            found->sa_sigaction = handler;
        if (wanted_no_info)
            found->sa_flags &= ~SA_SIGINFO;
        if (masked_fault)
            sigaddset(&found->sa_mask, SIGSEGV);
    }
    sc_sigreturn_tell_librarys(found);
}

static int change_other_locked(int number, const struct sigaction *action, struct sigaction *old)
{
    SC_ASSERT(sc_signals_are_locked_here());
    handler_function *handler = atomic_load(&handlers[number]);
    bool masked_fault = is_in(&masks_fault, number);
    bool wanted_no_info = is_in(&wants_no_info, number);
    bool is_called = action && is_handler(action);
    struct sigaction ours;
    if (is_called) {
        ours = *action;
        ours.sa_sigaction = enter;
        ours.sa_flags |= SA_SIGINFO;
        if (sc_sharing_is_on())
            sigdelset(&ours.sa_mask, SIGSEGV);
        atomic_store(&handlers[number], action->sa_sigaction);
    }
    if (action) {
        put_in(&masks_fault, number, is_called && sigismember(&action->sa_mask, SIGSEGV) == 1);
        put_in(&wants_no_info, number, is_called && !(action->sa_flags & SA_SIGINFO));
        put_in(&resets, number, is_called && (action->sa_flags & (int)SA_RESETHAND));
    }
    int result = real_sigaction(number, is_called ? &ours : action, old);
    if (result == 0 && old)
        tell_as_set(number, old, handler, masked_fault, wanted_no_info);
    if (result == 0 && is_called)
        sc_sigreturn_adopt(number);
    return result;
}

/* SIGTRAP is the library's for as long as a thread is stepped, which takes some microseconds, and
 * longer where the thread is not let run. A step that was left for good is not waited for. */
static struct sc_signals_lock lock_for(int number)
{
    struct sc_signals_lock lock = sc_signals_lock();
    for (unsigned i = 0; number == SIGTRAP && i < STEP_LOOKS && sc_single_step_is_under_way();
         i++) {
        sc_signals_unlock(&lock);
        sched_yield();
        lock = sc_signals_lock();
    }
    return lock;
}

static int change(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sc_signals_lock lock = lock_for(number);
    int result = number == SIGSEGV ? sc_signals_change(action, old)
                                   : change_other_locked(number, action, old);
    sc_signals_unlock(&lock);
    return result;
}

/* The child of a vfork changes its own actions, and must not leave word of them with its parent. So
 * does one that has run no handler of ours: there the kernel's action becomes the program's, and no
 * page may stay that only our handler lets go. */
static int change_in_child(int number, const struct sigaction *action, struct sigaction *old)
{
    if (number == SIGSEGV && action)
        sc_guard_is_done_by_child();
    int result = real_sigaction(number, action, old);
    if (result == 0 && old)
        tell_as_set(number, old, atomic_load(&handlers[number]), is_in(&masks_fault, number),
                    is_in(&wants_no_info, number));
    return result;
}

/* ---- what the program has set before ---- */

static uint64_t bits_from(const char *hex)
{
    uint64_t bits = 0;
    for (;; hex++) {
        if (*hex >= '0' && *hex <= '9')
            bits = bits << 4 | (uint64_t)(*hex - '0');
        else if (*hex >= 'a' && *hex <= 'f')
            bits = bits << 4 | (uint64_t)(*hex - 'a' + 10);
        else
            return bits;
    }
}

/* The signals that have handlers; all, where /proc does not tell. */
static uint64_t caught(void)
{
    SC_ASSERT(sc_signals_are_locked_here());
    static const char words[] = "\nSigCgt:\t";
    static char status[4096]; /* under the lock */
    long size = sc_file_read("/proc/self/status", status, sizeof status - 1);
    status[size > 0 ? size : 0] = '\0';
    const char *at = strstr(status, words);
    return at ? bits_from(at + sizeof words - 1) : ~UINT64_C(0);
}

/* As it is to be told, where it is ours already. What the program has set by a system call of its
 * own is left as it is. */
static void adopt_locked(int number)
{
    SC_ASSERT(sc_signals_are_locked_here());
    struct sigaction found;
    if (real_sigaction(number, NULL, &found) != 0 || !is_handler(&found))
        return;
    bool is_ours = is_of_ours(&found);
    if (is_ours)
        tell_as_set(number, &found, atomic_load(&handlers[number]), is_in(&masks_fault, number),
                    is_in(&wants_no_info, number));
    if (is_ours || sc_sigreturn_is_librarys(&found))
        change_other_locked(number, &found, NULL);
}

void sc_signals_adopt_handlers(void)
{
    SC_ASSERT(sc_signals_are_locked_here());
    const uint64_t others = ~(SC_KERNEL_MASK_LIBRARYS | SC_SIGNAL_BIT(SIGSEGV));
    for (uint64_t left = caught() & others; left; left &= left - 1)
        adopt_locked(__builtin_ctzll(left) + 1);
}

/* A call that was passed on while handlers began to be shared may have come too late for them. */
static int pass_on(int number, const struct sigaction *action, struct sigaction *old)
{
    bool had_handlers = sc_sharing_has_handlers();
    int result = real_sigaction(number, action, old);
    if (sc_unlikely(!had_handlers && sc_sharing_has_handlers()) && result == 0 && action &&
        number != SIGSEGV && !sc_sharing_is_vfork_child()) {
        struct sc_signals_lock lock = sc_signals_lock();
        adopt_locked(number);
        sc_signals_unlock(&lock);
    }
    return result;
}

static bool is_shared(int number)
{
    return number == SIGSEGV ? sc_sharing_is_on() : sc_sharing_has_handlers();
}

/* The program's memory is touched outside of the lock, where its handler may leave us. */
SC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction next;
    struct sigaction before;
    if (!is_shared(number) || (bit_of(number) & ~SC_KERNEL_MASK_LIBRARYS) == 0)
        return pass_on(number, action, old);
    if (action)
        next = *action;
    int result = (sc_sharing_is_vfork_child() ? change_in_child : change)(
        number, action ? &next : NULL, old ? &before : NULL);
    if (result == 0 && old)
        *old = before;
    return result;
}

SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

/* ---- what is older than sigaction, as the C library makes it of sigaction ---- */

/* Signals for which siginterrupt was called, which signal() asks about. */
static _Atomic uint64_t interrupts;

static sighandler_t set_handler(int number, sighandler_t handler, int flags, bool masks_itself)
{
    struct sigaction old;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = is_in(&interrupts, number) ? flags & ~(int)SA_RESTART : flags;
    if (masks_itself)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

#define SIGNAL(name, flags, masks_itself)                                                          \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler);                                 \
    SC_EXPORT sighandler_t name(int number, sighandler_t handler)                                  \
    {                                                                                              \
        if (handler == SIG_ERR || bit_of(number) == 0 || !sc_sharing_has_handlers())               \
            return SC_NEXT(signal_function *, #name)(number, handler);                             \
        return set_handler(number, handler, flags, masks_itself);                                  \
    }

SIGNAL(signal, SA_RESTART, true)
SIGNAL(bsd_signal, SA_RESTART, true)
SIGNAL(ssignal, SA_RESTART, true)
SIGNAL(sysv_signal, (int)SA_RESETHAND | SA_NODEFER | SA_OLD_INTERRUPT, false)
SIGNAL(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER | SA_OLD_INTERRUPT, false)

/* Blocks, or sets a handler and unblocks. */
SC_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
    struct sigaction old;
    struct sigaction action;
    sigset_t one;
    sigset_t before;
    bool holds = handler == SIG_HOLD;
    if (bit_of(number) == 0 || !sc_sharing_has_handlers())
        return SC_NEXT(signal_function *, "sigset")(number, handler);
    sigemptyset(&one);
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    if (sigaddset(&one, number) != 0 || sigaction(number, holds ? NULL : &action, &old) != 0 ||
        sigprocmask(holds ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, number) == 1 ? SIG_HOLD : old.sa_handler;
}

SC_EXPORT int sigignore(int number)
{
    struct sigaction action;
    if (!sc_sharing_has_handlers())
        return SC_NEXT(number_function *, "sigignore")(number);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    return sigaction(number, &action, NULL);
}

SC_EXPORT int siginterrupt(int number, int interrupting)
{
    struct sigaction action;
    if (!sc_sharing_has_handlers()) {
        int result = SC_NEXT(interrupt_function *, "siginterrupt")(number, interrupting);
        if (result == 0)
            put_in(&interrupts, number, interrupting);
        return result;
    }
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    put_in(&interrupts, number, interrupting);
    if (interrupting)
        action.sa_flags &= ~(int)SA_RESTART;
    else
        action.sa_flags |= (int)SA_RESTART;
    return sigaction(number, &action, NULL);
}
