/* The handler of SIGSEGV: it handles faults on guarded pages, and passes the others to the program.
 */
#include "interpose/signals/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/checks.h"
#include "common/frames.h"
#include "common/kernel.h"
#include "common/library_lock.h"
#include "common/ticks.h"
#include "interpose/base/compiler.h"
#include "interpose/base/kernel_mask.h"
#include "interpose/base/loader.h"
#include "interpose/guard/door.h"
#include "interpose/signals/blocked_threads.h"
#include "interpose/signals/main_thread.h"
#include "interpose/signals/pending_segv.h"
#include "interpose/signals/postponed_signal.h"
#include "interpose/signals/restartable_wait.h"
#include "interpose/signals/sharing.h"
#include "interpose/signals/signal_mask.h"
#include "interpose/signals/sigreturn.h"
#include "interpose/signals/single_step.h"
#include "interpose/signals/upwards.h"
#include "track/spans.h"
#include "track/track_parts.h"

#include "common/poison.h"

enum {
    ACTIONS = 64,
    ASK_INTERVAL_NS = 50 * 1000, /* for which an answer of sc_signals_take_over is good */
    CHECK_FIRST_NS = 50 * 1000,  /* the intervals between checks of Linux's action */
    CHECK_LAST_NS = 100 * 1000 * 1000,
};

typedef int sigaction_function(int number, const struct sigaction *action, struct sigaction *old);
typedef void handler_function(int number, siginfo_t *info, void *context);

/* Calls the C library's sigaction, past the library's hook. */
static int real_sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    return SC_NEXT(sigaction_function *, "sigaction")(number, action, old);
}

/* ---- one change at a time ---- */

static _Atomic bool locked;
static SC_CHECKER _Atomic int32_t owner; /* the thread that has the lock */

#ifdef SC_DEBUG
/* Has the calling thread the lock under which actions are changed? For assertions. */
bool sc_signals_are_locked_here(void)
{
    return atomic_load(&owner) == sc_checks_thread();
}
#endif

/* Takes the lock under which actions are changed, and returns the mask that the thread had. Spins,
 * with all signals blocked but those of faults: a handler that changes an action would wait for its
 * own thread. */
struct sc_signals_lock sc_signals_lock(void)
{
    struct sc_signals_lock lock = {sc_kernel_mask_block(SC_KERNEL_MASK_ALL_BUT_FAULTS)};
    for (unsigned times = 0; atomic_exchange_explicit(&locked, true, memory_order_acquire); times++)
        sc_kernel_back_off(times);
    SC_CHECK(atomic_store(&owner, sc_checks_thread()));
    return lock;
}

/* Releases the lock, and then sets the signal mask that the thread had before it acquired the lock.
 */
void sc_signals_unlock(const struct sc_signals_lock *lock)
{
    SC_ASSERT(sc_signals_are_locked_here());
    SC_CHECK(atomic_store(&owner, 0));
    atomic_store_explicit(&locked, false, memory_order_release);
    sc_kernel_mask_set(lock->mask);
}

/* In a forked child, frees the lock, whose owner may not be in the child, and drops what was kept,
 * postponed or single-stepped: pending signals are the parent's. */
void sc_signals_child(void)
{
    sc_signal_mask.has_pending_segv = false;
    sc_postponed_signal_child();
    sc_single_step_child();
    sc_main_thread_child();
    atomic_store(&locked, false);
    sc_sharing_child();
}

/* ---- the program's action for SIGSEGV ----
 *
 * The action is kept in a slot that is written once and then published, so that a handler never
 * waits and never sees half of an action. A slot is used again only many actions later. */

/* SA_RESTORER: set by the C library on x86-64, by the program elsewhere. */
enum { SA_RESTORED = 0x04000000 };

static struct sigaction actions[ACTIONS];
static _Atomic unsigned next_action;
static _Atomic(const struct sigaction *) program_action; /* NULL: the default action */
static _Atomic bool taken_over; /* the library's handler was installed for SIGSEGV once */

/* Records what the program has set as its action, in the way in which Linux would show it: without
 * signals that no mask can have, and with the flags that Linux has kept. It gets a slot of its own,
 * which is published whole: a handler may read it at any time, without a lock. */
static void record_action(const struct sigaction *action, int flags)
{
    struct sigaction *slot = &actions[atomic_fetch_add(&next_action, 1) % ACTIONS];
    *slot = *action;
    slot->sa_flags = flags | (SC_SIGRETURN_IS_OURS ? SA_RESTORED : 0);
    sigdelset(&slot->sa_mask, SIGKILL);
    sigdelset(&slot->sa_mask, SIGSTOP);
    atomic_store(&program_action, slot);
}

/* Records the action that Linux had as the program's, when the library's handler takes its place.
 * It gets a slot of its own, which is published whole: a handler may read it at any time, without a
 * lock. */
static void record_found_action(const struct sigaction *found)
{
    struct sigaction *slot = &actions[atomic_fetch_add(&next_action, 1) % ACTIONS];
    *slot = *found;
    atomic_store(&program_action, slot);
}

/* Returns the program's action for SIGSEGV, which the library keeps. */
static struct sigaction get_action(void)
{
    static const struct sigaction by_default;
    const struct sigaction *action = atomic_load(&program_action);
    return action ? *action : by_default;
}

/* Has the action a function to call (neither SIG_DFL nor SIG_IGN)? */
static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Is the action's handler to run on the alternate stack? */
static bool wants_alternate(const struct sigaction *action)
{
    return is_handler(action) && (action->sa_flags & SA_ONSTACK);
}

/* ---- faults ---- */

/* The bits of a fault's address. A program may request addresses with the tags of its pointers
 * (SA_EXPOSE_TAGBITS). */
#if defined(__aarch64__)
#define ADDRESS_BITS (~UINT64_C(0) >> 8)
#else
#define ADDRESS_BITS (~UINT64_C(0))
#endif

/* Describes a fault from the arguments of its signal: which address, by which instruction, and
 * whether that read, wrote, or could not be fetched. On aarch64 the latter stands in a record
 * behind the registers, which Linux may leave out. */
static struct sc_fault describe_fault(const siginfo_t *info, const ucontext_t *context)
{
    struct sc_fault fault = {
        .address = (uintptr_t)info->si_addr & ADDRESS_BITS,
        .context = context,
        .denied = info->si_code == SEGV_ACCERR,
    };
    memcpy(&fault.mask, &context->uc_sigmask, sizeof fault.mask);
#if defined(__x86_64__)
    enum { ERROR_WRITE = 1 << 1, ERROR_EXECUTE = 1 << 4 };
    fault.pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    fault.write = context->uc_mcontext.gregs[REG_ERR] & ERROR_WRITE;
    fault.executes = context->uc_mcontext.gregs[REG_ERR] & ERROR_EXECUTE;
#elif defined(__aarch64__)
    enum { STATUS_MAGIC = 0x45535201, STATUS_WRITE = 1 << 6, CLASS_AT = 26, CLASS_EXECUTE = 0x20 };
    struct record {
        uint32_t magic, size;
        uint64_t esr;
    } record;
    const unsigned char *at = (const unsigned char *)context->uc_mcontext.__reserved;
    const unsigned char *end = at + sizeof context->uc_mcontext.__reserved;
    fault.pc = context->uc_mcontext.pc;
    fault.write = true; /* if Linux does not say: waiting for too much is not wrong */
    for (; at + sizeof record <= end; at += record.size) {
        memcpy(&record, at, sizeof record);
        if (record.magic == STATUS_MAGIC) {
            fault.executes = record.esr >> CLASS_AT == CLASS_EXECUTE;
            fault.write = !fault.executes && (record.esr & STATUS_WRITE);
        }
        if (record.magic == STATUS_MAGIC || record.size == 0)
            break;
    }
#else
#error "how does this machine tell of a fault?"
#endif
    return fault;
}

/* Has Linux kill the process, when this handler returns, as it would have without the library: the
 * default action is set. The faulting instruction is then repeated, so that a core dump has its
 * context; a signal that was sent (si_code <= 0) is sent again. */
static void kill_program(int number, const siginfo_t *info)
{
    struct sigaction by_default;
    memset(&by_default, 0, sizeof by_default);
    real_sigaction(number, &by_default, NULL);
    if (info->si_code <= 0)
        sc_kernel_call(SYS_rt_tgsigqueueinfo, getpid(), sc_kernel_call(SYS_gettid), number, info);
}

/* Would Linux, without the library, kill the process for this SIGSEGV? By the default action; a
 * fault also kills where SIGSEGV is ignored or blocked (`was_blocked`: the program believes so). */
static bool kills_program(const struct sigaction *action, bool is_fault, bool was_blocked)
{
    return action->sa_handler == SIG_DFL ||
           (is_fault && (action->sa_handler == SIG_IGN || was_blocked));
}

/* Sets the mask under which the program's handler of SIGSEGV runs: that of the interrupted code and
 * its action's. SIGSEGV itself is only recorded as blocked. If it was believed blocked before
 * (`was_blocked`), that is written into the frame's mask, for the handler to see and for its
 * return. A call that waits under another mask (sigsuspend) was interrupted under that
 * (`meanwhile`); not if this handler has interrupted another one's first instruction (`is_nested`).
 * `frame`: this handler's. */
static void set_handler_masks(const struct sigaction *action, ucontext_t *context, bool was_blocked,
                              struct sc_frame frame)
{
    bool is_nested = sc_signals_is_about_to_enter(context);
    uint64_t interrupted = !is_nested && sc_signal_mask_is_other()
                               ? sc_signal_mask.other.meanwhile
                               : sc_kernel_mask_of(&context->uc_sigmask);
    uint64_t mask = interrupted | sc_kernel_mask_of(&action->sa_mask);
    bool will_block = !(action->sa_flags & SA_NODEFER) || (mask & SC_SIGNAL_BIT(SIGSEGV));
    mask &= ~SC_SIGNAL_BIT(SIGSEGV);
    sc_signal_mask_write_to_frame(context, was_blocked, is_nested);
    if (will_block)
        sc_signal_mask_block_fault(frame, mask);
    sc_kernel_mask_set(mask);
}

/* Lets the guard handle a fault, which may be on one of its protected pages; returns whether it
 * was. Meanwhile signals are blocked here by the library alone: if this is the main thread, others
 * forward signals to it (main_thread.h). After the fault of a single step the instruction runs so,
 * too. */
static bool let_guard_handle(const siginfo_t *info, const ucontext_t *context)
{
    struct sc_fault fault = describe_fault(info, context);
    sc_main_thread_note_blocked(context);
    bool is_ours = sc_guard_fault(&fault);
    if (!sc_single_step_is_begun(context))
        sc_main_thread_note_unblocked();
    return is_ours;
}

/* Decides what to do with a SIGSEGV. Returns the program's handler, to be called, or NULL: the
 * interrupted code goes on, since the guard has handled the fault, or the signal is ignored, kept
 * for later or sent on. Faults come from Linux (si_code > 0); other signals were sent. If the
 * program's action wants the other stack than `alternate`, another thread is setting a new action
 * just now: the instruction is repeated, and by then the right handler of the library is installed.
 * `frame`: this handler's. */
static handler_function *handler_for(int number, siginfo_t *info, ucontext_t *context,
                                     bool alternate, struct sc_frame frame)
{
    sc_main_thread_restore(info);
    bool is_fault = info->si_code > 0;
    sc_single_step_cancel(context);
    sc_signals_compare_mask(context);
    if (is_fault && let_guard_handle(info, context))
        return NULL;
    /* A signal that was sent to the process reaches a thread of the library only if the main thread
     * blocked it. It is forwarded to the main thread: the program's handler never runs here. */
    if (!is_fault && sc_library_lock_is_library_thread()) {
        if (!sc_main_thread_send(number, info))
            sc_kernel_call(SYS_tgkill, getpid(), getpid(), number);
        return NULL;
    }
    if (is_fault)
        sc_signal_mask_drop_stale_belief();
    /* A signal that is sent while the program believes SIGSEGV blocked, or is about to enter a
     * handler that blocks it, is kept. */
    bool was_blocked = sc_signal_mask_blocks_fault_above(frame.place);
    struct sigaction action = get_action();
    bool will_block = !is_fault && sc_signals_is_about_to_block(context);
    sc_restartable_wait_restart(context);
    if (!is_fault && (was_blocked || will_block)) {
        sc_pending_segv_add(info);
        sc_signal_mask.pends_for_handler = !was_blocked;
        sc_signal_mask.has_pending_segv = was_blocked;
        return NULL;
    }
    if (kills_program(&action, is_fault, was_blocked)) {
        kill_program(number, info);
        return NULL;
    }
    if (action.sa_handler == SIG_IGN || (is_fault && wants_alternate(&action) != alternate))
        return NULL;
    if (action.sa_flags & (int)SA_RESETHAND) {
        struct sigaction reset = action;
        reset.sa_handler = SIG_DFL;
        record_action(&reset, reset.sa_flags);
    }
    set_handler_masks(&action, context, was_blocked, frame);
    return (handler_function *)(uintptr_t)action.sa_sigaction;
}

/* Called before this handler returns to the interrupted code, without the program's handler: puts
 * SIGSEGV into the frame's mask if the program has it blocked, as it believes. The library's way
 * back takes it out again, for Linux, and would otherwise record that the program has it unblocked.
 */
static void believe_in_frame(ucontext_t *context)
{
    if (SC_SIGRETURN_IS_OURS && sc_signal_mask.blocks_fault)
        sigaddset(&context->uc_sigmask, SIGSEGV);
}

/* Defines a handler of SIGSEGV that the library installs: one for the thread's stack and one for
 * the alternate stack, as the program's action wants. The program's handler is called by a tail
 * call, so that its frame lies where Linux would have put it. Where handlers do not return to the
 * library's code, this function does afterwards what that does. */
#define HANDLE(name, alternate)                                                                    \
    static void name(int number, siginfo_t *info, void *context)                                   \
    {                                                                                              \
        int saved = errno;                                                                         \
        handler_function *handler = handler_for(number, info, context, alternate, SC_FRAME());     \
        errno = saved;                                                                             \
        if (!handler)                                                                              \
            believe_in_frame(context);                                                             \
        else if (SC_SIGRETURN_IS_OURS)                                                             \
            handler(number, info, context);                                                        \
        else                                                                                       \
            handler(number, info, context), sc_signal_mask_restore_from(context);                  \
    }

HANDLE(handle_on_thread_stack, false)
HANDLE(handle_on_alternate_stack, true)

/* ---- taking over ---- */

/* Is the action, as read from Linux, the library's for SIGSEGV? */
static bool is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && (action->sa_sigaction == handle_on_thread_stack ||
                                               action->sa_sigaction == handle_on_alternate_stack);
}

/* The flags of the program's action that the library implements. All others are passed to Linux as
 * they are. */
static const int flags_for_us =
    SA_SIGINFO | SA_ONSTACK | (int)SA_RESTART | SA_NODEFER | (int)SA_RESETHAND | SA_RESTORED;

/* Installs the library's handler of SIGSEGV; returns 0, or -1 with errno. `program`: the program's
 * action, from which the stack, SA_RESTART and flags unknown to the library are taken, so that the
 * program sees no difference. */
static int install_handler(const struct sigaction *program)
{
    struct sigaction ours;
    bool alternate = wants_alternate(program);
    bool restarts = !is_handler(program) || (program->sa_flags & SA_RESTART);
    uint64_t mask = SC_KERNEL_MASK_ALL_BUT_FAULTS;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = alternate ? handle_on_alternate_stack : handle_on_thread_stack;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | (alternate ? SA_ONSTACK : 0) |
                    (restarts ? (int)SA_RESTART : 0) | (program->sa_flags & ~flags_for_us);
    memcpy(&ours.sa_mask, &mask, sizeof mask);
    if (real_sigaction(SIGSEGV, &ours, NULL) != 0)
        return -1;
    sc_sigreturn_adopt(SIGSEGV);
    return 0;
}

/* Installs the library's handler of SIGSEGV, and records the action found in Linux as the
 * program's. False: Linux refuses. */
static bool take_over_locked(const struct sigaction *found)
{
    SC_ASSERT(sc_signals_are_locked_here());
    record_found_action(found);
    atomic_store(&taken_over, true);
    return install_handler(found) == 0;
}

/* Installs the library's handler of SIGSEGV if Linux has another one, which becomes the program's
 * action: the first time, and after the program has set one past the hooks. False: Linux refuses.
 */
static bool ensure_ours(void)
{
    struct sigaction found;
    if (real_sigaction(SIGSEGV, NULL, &found) != 0)
        return false;
    if (is_ours(&found))
        return true;
    struct sc_signals_lock lock = sc_signals_lock();
    bool ours =
        real_sigaction(SIGSEGV, NULL, &found) == 0 && (is_ours(&found) || take_over_locked(&found));
    sc_signals_unlock(&lock);
    return ours;
}

/* Called at the first use of CUDA: installs the library's handler in place of each of the program's
 * (SIGSEGV's comes later), so that signals can be postponed while a thread has a lock of the
 * library. Does nothing if that was done, or if the program's calls do not reach the hooks. */
void sc_signals_enter_handlers(void)
{
    if (sc_sharing_has_handlers() || !sc_sharing_is_possible())
        return;
    sc_sigreturn_find_libc_restorer();
    struct sc_signals_lock lock = sc_signals_lock();
    sc_sharing_grow(SC_SHARING_HANDLERS);
    sc_signals_adopt_handlers();
    sc_signals_unlock(&lock);
}

/* Begins to share SIGSEGV (Linux never has it blocked from now on), unless a thread blocks it in
 * Linux: that stays so until the thread changes its mask, or leaves the handler that has it, and
 * until then nothing may be guarded. Checked again afterwards, for masks that were set meanwhile.
 */
static enum sc_takeover share_faults(void)
{
    if (!sc_sharing_has_handlers())
        return SC_TAKEOVER_REFUSED;
    if (sc_blocked_threads_any())
        return SC_TAKEOVER_BLOCKED;
    if (sc_sharing_is_on())
        return SC_TAKEOVER_DONE;
    struct sc_signals_lock lock = sc_signals_lock();
    sc_sharing_grow(SC_SHARING_FAULTS);
    sc_signals_adopt_handlers();
    sc_signals_unlock(&lock);
    return sc_blocked_threads_check_now() ? SC_TAKEOVER_BLOCKED : SC_TAKEOVER_DONE;
}

/* When Linux's action for SIGSEGV is to be read again, and how long the last interval was. */
static _Atomic uint64_t action_good_until; /* ticks */
static _Atomic uint64_t put_off_ns;

/* Has operations that repeat an earlier one, and take over which pages are protected, choose them
 * anew: that checks the handler of SIGSEGV, which the program may have replaced. */
static void rechoose_pages(void)
{
    atomic_store_explicit(&sc_track_parts.guards->doubted_ticks, sc_ticks(), memory_order_relaxed);
}

/* Has the handler of SIGSEGV checked soon, and then more often for a while: a library is loaded, a
 * thread started or a page touched, and the program may have replaced the handler past the hooks.
 */
void sc_signals_recheck_soon(void)
{
    atomic_store_explicit(&put_off_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&action_good_until, 0, memory_order_relaxed);
    rechoose_pages();
}

/* Ensures, now and then, that the library's handler of SIGSEGV is still installed; false: it is
 * not, and Linux refuses. Only a system call that no hook sees can have replaced it, as language
 * runtimes make when they start. The check is a system call as well, so each one that finds no
 * change doubles the time to the next one, from 50 us to 0.1 s. */
static bool ensure_still_ours(uint64_t now)
{
    if (now < atomic_load_explicit(&action_good_until, memory_order_relaxed))
        return true;
    uint64_t ns = 2 * atomic_load_explicit(&put_off_ns, memory_order_relaxed);
    ns = ns < CHECK_FIRST_NS ? CHECK_FIRST_NS : ns > CHECK_LAST_NS ? CHECK_LAST_NS : ns;
    bool ours = ensure_ours();
    atomic_store_explicit(&put_off_ns, ours ? ns : 0, memory_order_relaxed);
    atomic_store_explicit(&action_good_until, ours ? now + sc_ticks_in_ns(ns) : 0,
                          memory_order_relaxed);
    return ours;
}

/* Called before pages are protected by mprotect: installs the library's handler of SIGSEGV, and
 * checks from time to time that it still is, and that no thread blocks SIGSEGV in Linux. A good
 * answer holds for ASK_INTERVAL_NS (50 us). After a bad one, operations that repeat an earlier one
 * have to ask again. */
enum sc_takeover sc_signals_take_over(void)
{
    static _Atomic uint64_t good_until; /* ticks */
    uint64_t now = sc_ticks();
    if (sc_likely(now < atomic_load_explicit(&good_until, memory_order_relaxed)))
        return SC_TAKEOVER_DONE;
    enum sc_takeover result = share_faults();
    if (result == SC_TAKEOVER_DONE && !ensure_still_ours(now))
        result = SC_TAKEOVER_REFUSED;
    if (result != SC_TAKEOVER_DONE)
        rechoose_pages();
    uint64_t until = result == SC_TAKEOVER_DONE ? now + sc_ticks_in_ns(ASK_INTERVAL_NS) : 0;
    atomic_store_explicit(&good_until, until, memory_order_relaxed);
    return result;
}

/* Called when the program blocks SIGSEGV, which Linux then does not: installs the library's handler
 * in place of the default action, so that a SIGSEGV that is sent is kept and does not kill. An
 * ignored signal stays ignored, as exec passes that on to the next program. Not in a child of
 * vfork, whose actions are not recorded. */
void sc_signals_prepare_pending(void)
{
    struct sigaction found;
    if (sc_likely(atomic_load_explicit(&taken_over, memory_order_relaxed)) || !sc_sharing_is_on() ||
        sc_sharing_is_vfork_child())
        return;
    struct sc_signals_lock lock = sc_signals_lock();
    if (!atomic_load(&taken_over) && real_sigaction(SIGSEGV, NULL, &found) == 0 &&
        found.sa_handler == SIG_DFL)
        take_over_locked(&found);
    sc_signals_unlock(&lock);
}

/* Returns which flags of the program's action, with which the library's handler was just installed,
 * Linux would show: since Linux 5.11 it drops flags that it does not know; before, it kept all.
 * Only asked if there are flags that the library does not implement itself. */
static int kept_flags(const struct sigaction *installed)
{
    struct sigaction found;
    if (!(installed->sa_flags & ~flags_for_us) || real_sigaction(SIGSEGV, NULL, &found) != 0)
        return installed->sa_flags;
    return installed->sa_flags & (found.sa_flags | flags_for_us);
}

/* Does what sigaction does for SIGSEGV while it is shared: `action` becomes the program's, which
 * the library keeps, and `old` gets the former one. As long as the library's handler was never
 * needed and the program sets none, Linux has the program's action itself. If SIGSEGV is ignored
 * now, the ones that are kept for threads are dropped. */
int sc_signals_change(const struct sigaction *action, struct sigaction *old)
{
    SC_ASSERT(sc_signals_are_locked_here());
    struct sigaction found;
    if (!atomic_load(&taken_over)) {
        if (!action || !is_handler(action))
            return real_sigaction(SIGSEGV, action, old);
        if (real_sigaction(SIGSEGV, NULL, &found) != 0 || !take_over_locked(&found))
            return -1;
    }
    if (old) {
        *old = get_action();
        sc_sigreturn_put_libc_restorer(old);
    }
    if (!action)
        return 0;
    if (install_handler(action) != 0)
        return -1;
    record_action(action, kept_flags(action));
    if (action->sa_handler == SIG_IGN)
        sc_pending_segv_drop_all();
    return 0;
}

/* Replaces an action for SIGSEGV that was read from Linux by the program's, if it is the library's.
 */
void sc_signals_restore_program_action(struct sigaction *found)
{
    if (is_ours(found))
        *found = get_action();
}
