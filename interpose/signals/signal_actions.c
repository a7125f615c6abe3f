/* Hooks of sigaction and the like, as far as signals are shared (sharing.h). Linux gets a handler
 * of the library for each signal that has one, which calls the program's handler. Once SIGSEGV is
 * shared:
 *
 * The library keeps the program's action for SIGSEGV (signals.h). The masks of other handlers do
 * not really block SIGSEGV. What the thread believes of SIGSEGV is in the frame that handlers find,
 * and return to (sigreturn.h). What the program reads back is what it has set. */

/* Terms (docs/glossary.md):
 *   hook: our function in the place of one of the C library's
 *   touch: a read or write of host memory by the program, by the kernel for it, or within a call
 */

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

enum { SIGNALS = 64, SA_OLD_INTERRUPT = 0x20000000, STEP_CHECKS = 100 * 1000 };

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef sighandler_t signal_function(int number, sighandler_t handler);
typedef int number_function(int number);
typedef int interrupt_function(int number, int interrupting);
typedef void handler_function(int number, siginfo_t *info, void *context);

/* Returns the signal as a bit of a set; 0: the program has given a number that is no signal's. */
static uint64_t bit_of(int number)
{
    return number > 0 && number <= SIGNALS ? SC_SIGNAL_BIT(number) : 0;
}

/* Calls the C library's sigaction, past the hook below. */
static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

/* ---- the handlers of other signals ---- */

/* The last handler that the program set for each signal; it may be about to be called. */
static _Atomic(handler_function *) handlers[SIGNALS + 1];
/* What Linux's actions do not tell of the program's, as sets of signals: the program's mask has
 * SIGSEGV (Linux's never has), and the program's action lacks SA_SIGINFO (Linux's always has it).
 * And those whose action has SA_RESETHAND. */
static _Atomic uint64_t masks_fault, wants_no_info, resets;

/* Is the signal in the set? */
static bool is_in_set(const _Atomic uint64_t *signals, int number)
{
    return atomic_load_explicit(signals, memory_order_relaxed) & bit_of(number);
}

/* Adds the signal to the set, or removes it; several threads may do so at once. */
static void set_member(_Atomic uint64_t *signals, int number, bool is_member)
{
    if (is_member)
        atomic_fetch_or(signals, bit_of(number));
    else
        atomic_fetch_and(signals, ~bit_of(number));
}

static void on_signal(int number, siginfo_t *info, void *context);
static void on_compared_signal(int number, siginfo_t *info, void *context);

/* Where an interrupted context goes on, and the first and third argument of the function that it is
 * about to begin. */
#if defined(__x86_64__)
#define PC(context) (context)->uc_mcontext.gregs[REG_RIP]
#define FIRST(context) (context)->uc_mcontext.gregs[REG_RDI]
#define THIRD(context) (context)->uc_mcontext.gregs[REG_RDX]
#else
#define PC(context) (context)->uc_mcontext.pc
#define FIRST(context) (context)->uc_mcontext.regs[0]
#define THIRD(context) (context)->uc_mcontext.regs[2]
#endif

/* Returns the signal whose handler (the library's) the interrupted context was about to begin, or
 * 0. Linux delivers several pending signals at once by a frame each, one within the other: the
 * handler of the innermost runs first. */
static int about_to_enter(const ucontext_t *context)
{
    uintptr_t at = (uintptr_t)PC(context);
    return at == (uintptr_t)on_signal || at == (uintptr_t)on_compared_signal ? (int)FIRST(context)
                                                                             : 0;
}

/* Called first in a handler: compares the thread's mask, which Linux has stored in the frame, with
 * the recorded one, to find whether the program has changed it past the hooks. If several signals
 * were delivered at once, each handler but the innermost waits at its first instruction, one frame
 * within the other. The innermost compares for all of them: the outermost frame has the thread's
 * mask, the others have masks of handlers. The other handlers are made to go on at an entry that
 * does not compare. A frame at that entry was compared by a handler before. */
void sc_signals_compare_mask(ucontext_t *context)
{
    while ((uintptr_t)PC(context) == (uintptr_t)on_signal) {
        PC(context) = (__typeof__(PC(context)))(uintptr_t)on_compared_signal;
        context = (ucontext_t *)(uintptr_t)THIRD(context);
    }
    if ((uintptr_t)PC(context) != (uintptr_t)on_compared_signal)
        sc_signal_mask_compare(sc_kernel_mask_of(&context->uc_sigmask));
}

/* Was the interrupted context about to begin another handler of the library? */
bool sc_signals_is_about_to_enter(const ucontext_t *context)
{
    return about_to_enter(context) != 0;
}

/* Was the interrupted context about to begin a handler whose action, as the program set it, blocks
 * SIGSEGV? Then a SIGSEGV that is sent counts as blocked. */
bool sc_signals_is_about_to_block(const ucontext_t *context)
{
    return is_in_set(&masks_fault, about_to_enter(context));
}

/* Has the program's handler find in its frame, and believe, what it would without the library. Puts
 * SIGSEGV into the frame's mask if the program has asked to block it on this thread. Then records
 * that it is blocked while the handler runs, if the action's mask has SIGSEGV; if it was blocked
 * already, only Linux's present mask. A SIGSEGV that was kept for this handler counts as pending
 * from now on. `frame`: the library's handler's. */
static void write_belief(int number, ucontext_t *context, struct sc_frame frame)
{
    bool blocked = sc_signal_mask_blocks_fault_above(frame.place);
    sc_signal_mask_write_to_frame(context, blocked, sc_signals_is_about_to_enter(context));
    if (blocked)
        sc_signal_mask_note_kernel_mask(sc_kernel_mask_block(0));
    else if (is_in_set(&masks_fault, number))
        sc_signal_mask_block_fault(frame, sc_kernel_mask_block(0));
    sc_signal_mask.has_pending_segv |= sc_signal_mask.pends_for_handler;
    sc_signal_mask.pends_for_handler = false;
}

/* Prepares the thread for the program's handler, and returns that. What the handler is to believe
 * of SIGSEGV is recorded only if it returns to the library's code, which undoes that: right after
 * sigaction it may still return to the C library's. From here on, calls count as the program's
 * (sc_inside_interrupt), also if a call that the library makes for itself was interrupted.
 * ThreadSanitizer's library comes between Linux and this one: it calls handlers, at once or later,
 * with every signal really blocked, so SIGSEGV is unblocked. */
static handler_function *prepare_handler(int number, ucontext_t *context, struct sc_frame frame)
{
    if (sc_sigreturn_is_return_to_us(frame.caller)) {
        if (sc_sharing_is_on())
            write_belief(number, context, frame);
        sc_inside_interrupt(frame);
    } else if (sc_sharing_is_on() && sc_sanitizers_see_threads()) {
        sc_kernel_mask_unblock(SC_SIGNAL_BIT(SIGSEGV));
    }
    return atomic_load_explicit(&handlers[number], memory_order_acquire);
}

/* Sends the signal again: to this thread, for when it has left the lock of the library that it is
 * within, or else to the main thread, if that would have got it. False: it must be handled now, as
 * must one whose action Linux has reset (SA_RESETHAND). True: the library's handler returns at
 * once; its way back takes from the frame whether SIGSEGV is believed blocked, so that is written
 * there. */
static bool postpone_or_forward(int number, siginfo_t *info, ucontext_t *context,
                                struct sc_frame frame)
{
    if (!sc_sigreturn_is_return_to_us(frame.caller) || is_in_set(&resets, number) ||
        !(sc_postponed_signal_is_due() ? sc_postponed_signal_put(number, info, context)
                                       : sc_main_thread_forward(number, info)))
        return false;
    if (SC_SIGRETURN_IS_OURS && sc_signal_mask_blocks_fault())
        sigaddset(&context->uc_sigmask, SIGSEGV);
    return true;
}

/* Does what the library's handler of any signal does first: ends a single step and an unfinished
 * wait for signals that it has interrupted, puts back the signal's origin, and postpones or
 * forwards it if it must not be handled here and now. Returns the program's handler, or NULL in
 * that case. */
static handler_function *handler_for(int number, siginfo_t *info, ucontext_t *context,
                                     struct sc_frame frame)
{
    sc_single_step_cancel(context);
    sc_restartable_wait_restart(context);
    sc_main_thread_restore(info);
    if (sc_unlikely(sc_postponed_signal_is_due() || sc_sharing_is_on()) &&
        postpone_or_forward(number, info, context, frame))
        return NULL;
    if (sc_unlikely(number == sc_postponed_signal_ahead))
        sc_postponed_signal_take_turn(info);
    return prepare_handler(number, context, frame);
}

/* Calls the program's handler, unless the signal was postponed or forwarded. On x86-64 by a tail
 * call, so that its frame lies where Linux would have put it. Elsewhere handlers return to code of
 * Linux, so this function gets control back, and does then what the library's way back does. */
static inline __attribute__((always_inline)) void call_handler(int number, siginfo_t *info,
                                                               void *context, struct sc_frame frame)
{
    handler_function *handler = handler_for(number, info, context, frame);
    if (!handler)
        return;
    handler(number, info, context);
#if !SC_SIGRETURN_IS_OURS
    sc_inside_resume(frame);
    sc_signal_mask_restore_from(context);
#endif
}

/* The handler that Linux has in place of the program's, for signals other than SIGSEGV. Compares
 * the thread's mask with the recorded one first, unless it returns to the C library's code: then
 * nothing is recorded of masks (prepare_handler). */
static void on_signal(int number, siginfo_t *info, void *context)
{
    if (sc_sigreturn_is_return_to_us(SC_FRAME().caller))
        sc_signals_compare_mask(context);
    call_handler(number, info, context, SC_FRAME());
}

/* Where on_signal goes on if another handler of the library interrupted its first instruction: that
 * one has compared the mask for both (sc_signals_compare_mask). */
static void on_compared_signal(int number, siginfo_t *info, void *context)
{
    call_handler(number, info, context, SC_FRAME());
}

/* ---- sigaction ---- */

/* Has the action a function to call (neither SIG_DFL nor SIG_IGN)? */
static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Was the action, as read from Linux, installed by the library? Linux may have reset its handler to
 * SIG_DFL (SA_RESETHAND), and leaves the flags, of which SA_SIGINFO tells: it has no use there. */
static bool is_of_ours(const struct sigaction *found)
{
    const int reset = SA_SIGINFO | (int)SA_RESETHAND;
    return ((found->sa_flags & SA_SIGINFO) && found->sa_sigaction == on_signal) ||
           (found->sa_handler == SIG_DFL && (found->sa_flags & reset) == reset);
}

/* Replaces an action read from Linux, which may be the library's, by the one that the program has
 * set and will read. The last three arguments were recorded when it was set. An action that the
 * library did not install is left as it is, except for the return code (sa_restorer). */
static void restore_program_action(int number, struct sigaction *found, handler_function *handler,
                                   bool masked_fault, bool wanted_no_info)
{
    if (number == SIGSEGV) {
        sc_signals_restore_program_action(found);
    } else if (is_of_ours(found)) {
        if (found->sa_handler != SIG_DFL)
            found->sa_sigaction = handler;
        if (wanted_no_info)
            found->sa_flags &= ~SA_SIGINFO;
        if (masked_fault)
            sigaddset(&found->sa_mask, SIGSEGV);
    }
    sc_sigreturn_put_libc_restorer(found);
}

/* Does what sigaction does, for a signal other than SIGSEGV: installs the library's handler in
 * place of the program's (`action`), and records what Linux's action does not tell of that. Stores
 * the program's former action in `old`. SIG_DFL and SIG_IGN (`is_called` false) are set as they
 * are. */
static int change_other_locked(int number, const struct sigaction *action, struct sigaction *old)
{
    SC_ASSERT(sc_signals_are_locked_here());
    handler_function *handler = atomic_load(&handlers[number]);
    bool masked_fault = is_in_set(&masks_fault, number);
    bool wanted_no_info = is_in_set(&wants_no_info, number);
    bool is_called = action && is_handler(action);
    struct sigaction ours;
    if (is_called) {
        ours = *action;
        ours.sa_sigaction = on_signal;
        ours.sa_flags |= SA_SIGINFO;
        if (sc_sharing_is_on())
            sigdelset(&ours.sa_mask, SIGSEGV);
        atomic_store(&handlers[number], action->sa_sigaction);
    }
    if (action) {
        set_member(&masks_fault, number, is_called && sigismember(&action->sa_mask, SIGSEGV) == 1);
        set_member(&wants_no_info, number, is_called && !(action->sa_flags & SA_SIGINFO));
        set_member(&resets, number, is_called && (action->sa_flags & (int)SA_RESETHAND));
    }
    int result = real_sigaction(number, is_called ? &ours : action, old);
    if (result == 0 && old)
        restore_program_action(number, old, handler, masked_fault, wanted_no_info);
    if (result == 0 && is_called)
        sc_sigreturn_adopt(number);
    return result;
}

/* Takes sc_signals_lock, to change or read this signal's action. For SIGTRAP waits until no thread
 * is single-stepped, since meanwhile SIGTRAP's action is the library's. A step takes some
 * microseconds, or longer if the thread is not scheduled; one that never ends is not waited for. */
static struct sc_signals_lock lock_for(int number)
{
    struct sc_signals_lock lock = sc_signals_lock();
    for (unsigned i = 0; number == SIGTRAP && i < STEP_CHECKS && sc_single_step_is_under_way();
         i++) {
        sc_signals_unlock(&lock);
        sched_yield();
        lock = sc_signals_lock();
    }
    return lock;
}

/* Does what sigaction does while signals are shared, so that Linux has the library's handler, and
 * the program's action is recorded here. */
static int change_action(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sc_signals_lock lock = lock_for(number);
    int result = number == SIGSEGV ? sc_signals_change(action, old)
                                   : change_other_locked(number, action, old);
    sc_signals_unlock(&lock);
    return result;
}

/* Does what sigaction does in a child of vfork, or in one that has not run the library's fork
 * handler. It must not record its actions in its parent's memory, so only Linux's action is
 * changed. If that takes away the library's handler of SIGSEGV, inherited protected pages are made
 * accessible before, as they would fault. */
static int change_in_child(int number, const struct sigaction *action, struct sigaction *old)
{
    if (number == SIGSEGV && action)
        sc_guard_unprotect_in_child();
    int result = real_sigaction(number, action, old);
    if (result == 0 && old)
        restore_program_action(number, old, atomic_load(&handlers[number]),
                               is_in_set(&masks_fault, number), is_in_set(&wants_no_info, number));
    return result;
}

/* ---- what the program has set before ---- */

/* Reads a set of signals from hexadecimal digits, as /proc/self/status has it. */
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

/* Returns the signals that have handlers in Linux, by /proc; all signals, if that cannot be read.
 */
static uint64_t signals_with_handlers(void)
{
    SC_ASSERT(sc_signals_are_locked_here());
    static const char words[] = "\nSigCgt:\t";
    static char status[4096]; /* under the lock */
    long size = sc_file_read("/proc/self/status", status, sizeof status - 1);
    status[size > 0 ? size : 0] = '\0';
    const char *at = strstr(status, words);
    return at ? bits_from(at + sizeof words - 1) : ~UINT64_C(0);
}

/* Installs the signal's handler again, since the way in which it has to be called has changed: from
 * now on through the library, or with a mask without SIGSEGV. A handler that the program has set by
 * a system call of its own, past the C library, is left alone. */
static void reinstall_locked(int number)
{
    SC_ASSERT(sc_signals_are_locked_here());
    struct sigaction found;
    if (real_sigaction(number, NULL, &found) != 0 || !is_handler(&found))
        return;
    bool is_ours = is_of_ours(&found);
    if (is_ours)
        restore_program_action(number, &found, atomic_load(&handlers[number]),
                               is_in_set(&masks_fault, number), is_in_set(&wants_no_info, number));
    if (is_ours || sc_sigreturn_was_set_by_libc(&found))
        change_other_locked(number, &found, NULL);
}

/* Installs all present handlers of the program again, when the library begins to share more of its
 * signals. Not that of SIGSEGV, which signals.c installs, nor the C library's own. */
void sc_signals_adopt_handlers(void)
{
    SC_ASSERT(sc_signals_are_locked_here());
    const uint64_t others = ~(SC_KERNEL_MASK_LIBC | SC_SIGNAL_BIT(SIGSEGV));
    for (uint64_t left = signals_with_handlers() & others; left; left &= left - 1)
        reinstall_locked(__builtin_ctzll(left) + 1);
}

/* sigaction while the signal is not shared: the call is passed on to the C library. If the library
 * began to share handlers meanwhile, it may have missed this one, which is installed again. */
static int pass_on(int number, const struct sigaction *action, struct sigaction *old)
{
    bool had_handlers = sc_sharing_has_handlers();
    int result = real_sigaction(number, action, old);
    if (sc_unlikely(!had_handlers && sc_sharing_has_handlers()) && result == 0 && action &&
        number != SIGSEGV && !sc_sharing_is_vfork_child()) {
        struct sc_signals_lock lock = sc_signals_lock();
        reinstall_locked(number);
        sc_signals_unlock(&lock);
    }
    return result;
}

/* Does Linux get the library's handler for this signal by now? SIGSEGV's comes last, with the first
 * page that mprotect protects. */
static bool is_shared(int number)
{
    return number == SIGSEGV ? sc_sharing_is_on() : sc_sharing_has_handlers();
}

/* The hook of sigaction. Calls that name no signal, or one of the C library's own two, are passed
 * on. The program's memory (`action`, `old`) is touched outside of the lock only: a fault there may
 * call a handler of the program's, which may never return. */
SC_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction next;
    struct sigaction before;
    if (!is_shared(number) || (bit_of(number) & ~SC_KERNEL_MASK_LIBC) == 0)
        return pass_on(number, action, old);
    if (action)
        next = *action;
    int result = (sc_sharing_is_vfork_child() ? change_in_child : change_action)(
        number, action ? &next : NULL, old ? &before : NULL);
    if (result == 0 && old)
        *old = before;
    return result;
}

SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old);
/* The hook of the C library's second name for sigaction. */
SC_EXPORT int __sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(number, action, old);
}

/* ---- what is older than sigaction, as the C library makes it of sigaction ---- */

/* Signals for which siginterrupt(number, 1) was called: signal() does not restart their system
 * calls. */
static _Atomic uint64_t interrupts;

/* Sets a handler by sigaction, for the older functions (signal and its kin), which differ in the
 * flags and in whether the signal is blocked meanwhile (`masks_itself`). Returns the former
 * handler.
 */
static sighandler_t set_handler(int number, sighandler_t handler, int flags, bool masks_itself)
{
    struct sigaction old;
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = is_in_set(&interrupts, number) ? flags & ~(int)SA_RESTART : flags;
    if (masks_itself)
        sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* Defines the hook of such a function. Before handlers are shared, and for arguments that are
 * refused, the call is passed on. */
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

/* The hook of sigset, which does by sigaction and sigprocmask what the C library does: SIG_HOLD
 * blocks the signal, anything else sets the handler and unblocks it. The C library would call its
 * own functions, past the hooks. */
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

/* The hook of sigignore, which goes by sigaction's, as the C library's would pass the hooks. */
SC_EXPORT int sigignore(int number)
{
    struct sigaction action;
    if (!sc_sharing_has_handlers())
        return SC_NEXT(number_function *, "sigignore")(number);
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_IGN;
    return sigaction(number, &action, NULL);
}

/* The hook of siginterrupt: whether the signal's handler lets system calls fail with EINTR. That is
 * recorded, too, since later calls of signal() for it go by it. */
SC_EXPORT int siginterrupt(int number, int interrupting)
{
    struct sigaction action;
    if (!sc_sharing_has_handlers()) {
        int result = SC_NEXT(interrupt_function *, "siginterrupt")(number, interrupting);
        if (result == 0)
            set_member(&interrupts, number, interrupting);
        return result;
    }
    if (sigaction(number, NULL, &action) != 0)
        return -1;
    set_member(&interrupts, number, interrupting);
    if (interrupting)
        action.sa_flags &= ~(int)SA_RESTART;
    else
        action.sa_flags |= (int)SA_RESTART;
    return sigaction(number, &action, NULL);
}
